// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/measure/device_samples.h"
#include "lib/session/batched_graph.h"
#include "lib/session/case_on_device.h"
#include "lib/session/recorded_step.h"

namespace attnbench {

/// Samples of a batched graph of a cell. Every set of inputs has a plan of its own in its
/// own memory: with the inputs, those leave the cache, too.
class BatchedGraphSamples final : public SampleSource {
 public:
  /// `entry` must outlive it. `recorded`: as RecordedStep says.
  BatchedGraphSamples(const Registry::Entry& entry, std::shared_ptr<CaseOnDevice> on_device,
                      CacheState cache, BatchedGraph graph, bool recorded)
      : entry_(&entry),
        on_device_(std::move(on_device)),
        cache_(cache),
        graph_(graph),
        recorded_(recorded) {}

  /// Makes the sets first. Throws EnvironmentError when there is no memory for them.
  void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) override;
  void take(SampleBlock& block, int count, double left_s, const Stop& stop) override;

 private:
  struct Bound {
    std::unique_ptr<PlanMemory> memory;
    std::unique_ptr<Plan> plan;              ///< in memory
    std::unique_ptr<RecordedStep> recorded;  ///< instead of both, where such steps are updated
    Work run;
  };
  void bind_all();
  [[nodiscard]] Bound bind(Fixture& fixture) const;
  [[nodiscard]] TimedCell cell();
  /// Checks one set at a visit: a hash of all sets would take longer than the visit.
  [[nodiscard]] std::string damage();

  const Registry::Entry* entry_;
  std::shared_ptr<CaseOnDevice> on_device_;
  CacheState cache_;
  BatchedGraph graph_;
  bool recorded_;  ///< its plans are, and updated
  std::unique_ptr<Backend> backend_;
  std::vector<Bound> bound_;              ///< one a set
  std::unique_ptr<SampleIo> io_;          ///< of all sets
  bool updated_ = false;                  ///< all recorded steps
  std::size_t next_looked_at_ = 0;        ///< set whose damage the next visit finds
  std::optional<DeviceSamples> samples_;  ///< its graph reads what is bound
};

}  // namespace attnbench
