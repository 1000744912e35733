// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  LocalWork(const Registry::Entry& entry, std::shared_ptr<LocalPlace> place)
      : entry_(&entry), place_(std::move(place)) {}

  [[nodiscard]] Support supports() override;
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
  std::shared_ptr<LocalPlace> place_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<PlanMemory> memory_;
  std::unique_ptr<Plan> plan_;  ///< in memory_
  std::unique_ptr<RecordedStep> recorded_;
};

}  // namespace attnbench
