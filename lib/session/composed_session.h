// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/fixture/sample_io.h"
#include "lib/session/local_session.h"

namespace attnbench {

/// A session of a composed step (Case::parts) on a device of this process: each part is verified
/// for itself, and a timed sample is the forwards of all parts, one after the other on one stream.
class ComposedSession final : public Session {
 public:
  /// A session for each part, all of one backend on one device.
  ComposedSession(const Registry::Entry& entry, const Case& c,
                  std::vector<std::unique_ptr<LocalSession>> parts)
      : entry_(&entry), case_(&c), parts_(std::move(parts)) {}

  /// A refusal names the part. The layout is that of the decodes' latent cache.
  [[nodiscard]] FormatChoice supports() override;
  [[nodiscard]] std::vector<Numerics> numerics() override;
  void begin_observing(const WantedRows& wanted) override;
  [[nodiscard]] Observation observe() override;
  void repair_fixture() override;
  [[nodiscard]] std::string fill_for_timing() override;
  [[nodiscard]] PlanCost plan() override;
  /// None: engines record no step of prompts beside decodes.
  [[nodiscard]] RecordedPlan plan_recorded() override { return {}; }
  [[nodiscard]] IndexTiming time_indices() override;
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode launch) override;
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState, BatchedGraph) override {
    return nullptr;
  }
  [[nodiscard]] std::string finish() override;

 private:
  [[nodiscard]] TimedCell cell_in(std::size_t placement, CacheState cache, LaunchMode launch);

  const Registry::Entry* entry_;
  const Case* case_;
  std::vector<std::unique_ptr<LocalSession>> parts_;
  std::vector<std::unique_ptr<SampleIo>> inputs_;  ///< of the cells
};

}  // namespace attnbench
