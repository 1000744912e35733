// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lib/bench/local_place.h"
#include "lib/bench/recorded_step.h"
#include "lib/bench/workshop.h"

namespace attnbench {

/// A backend's work on a device of this process.
class LocalWork final : public BackendWork {
 public:
  /// The place of the case with this layout.
  using PlaceOf = std::function<std::shared_ptr<LocalPlace>(KvLayout)>;

  LocalWork(const Registry::Entry& entry, const Case& c, PlaceOf place_of)
      : entry_(&entry), case_(&c), place_of_(std::move(place_of)) {}

  [[nodiscard]] FormatChoice supports() override;
  [[nodiscard]] Numerics numerics() override;
  void build() override { place_->build(); }
  [[nodiscard]] Observation observe(const WantedRows& wanted) override;
  void tidy_up() override;
  [[nodiscard]] std::string fill_for_timing() override { return place_->fill_for_timing(); }
  [[nodiscard]] HostTiming plan() override;
  [[nodiscard]] RecordedPlan plan_recorded() override;
  [[nodiscard]] IndexTiming time_indices() override;
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode launch) override;
  [[nodiscard]] std::unique_ptr<SampleSource> repeated(CacheState cache, Repeats repeats) override;
  [[nodiscard]] std::string finish() override;

 private:
  const Registry::Entry* entry_;
  const Case* case_;
  PlaceOf place_of_;
  std::shared_ptr<LocalPlace> place_;  ///< once the backend supports the case
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<PlanMemory> memory_;
  std::unique_ptr<Plan> plan_;  ///< in memory_
  std::unique_ptr<RecordedStep> recorded_;
};

}  // namespace attnbench
