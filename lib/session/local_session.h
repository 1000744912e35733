// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/session/case_on_device.h"
#include "lib/session/recorded_step.h"
#include "lib/session/session.h"

namespace attnbench {

/// A session on a device of this process.
class LocalSession final : public Session {
 public:
  /// The case with this layout on the device of the session.
  using OnDeviceOf = std::function<std::shared_ptr<CaseOnDevice>(KvLayout)>;

  LocalSession(const Registry::Entry& entry, const Case& c, OnDeviceOf on_device_of)
      : entry_(&entry), case_(&c), on_device_of_(std::move(on_device_of)) {}

  [[nodiscard]] FormatChoice supports() override;
  [[nodiscard]] std::vector<Numerics> numerics() override;
  void begin_observing(const WantedRows& wanted) override { wanted_ = &wanted; }
  [[nodiscard]] Observation observe() override;
  void repair_fixture() override;
  [[nodiscard]] std::string fill_for_timing() override { return on_device_->fill_for_timing(); }
  [[nodiscard]] PlanCost plan() override;
  [[nodiscard]] RecordedPlan plan_recorded() override;
  [[nodiscard]] IndexTiming time_indices() override;
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode launch) override;
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState cache,
                                                              BatchedGraph graph) override;
  [[nodiscard]] std::string finish() override;

  // For a session of several steps, of which this is one.

  /// How many placements have been planned.
  [[nodiscard]] std::size_t placements() const { return planned_.size(); }
  /// What a sample in a placement runs and checks.
  [[nodiscard]] TimedCell cell_in(std::size_t placement, CacheState cache, LaunchMode launch);
  /// Once the backend supports the case.
  [[nodiscard]] CaseOnDevice& on_device() const { return *on_device_; }

 private:
  /// A plan, or a recorded one, in memory of its own.
  struct Planned {
    std::unique_ptr<PlanMemory> memory;
    std::unique_ptr<Plan> plan;
  };

  const Registry::Entry* entry_;
  const Case* case_;
  OnDeviceOf on_device_of_;
  std::shared_ptr<CaseOnDevice> on_device_;  ///< once the backend supports the case
  std::unique_ptr<Backend> backend_;
  const WantedRows* wanted_ = nullptr;                   ///< by an observation that has begun
  bool left_damage_ = false;                             ///< by it
  std::vector<Planned> planned_;                         ///< one a placement
  std::vector<std::unique_ptr<RecordedStep>> recorded_;  ///< likewise; empty: there is none
};

}  // namespace attnbench
