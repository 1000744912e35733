// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/plan_memory.h"
#include "lib/cost/cost.h"
#include "lib/device/device.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/sample_io.h"
#include "lib/measure/measure.h"
#include "lib/verify/compared_fixtures.h"

namespace attnbench {

/// How much one of `processes` that share a device with so much memory may take for more sets of
/// inputs than the one that it needs: a 16th, and all of them a quarter.
[[nodiscard]] std::int64_t most_kept_bytes(std::int64_t device_bytes, int processes);

/// A case on a device: what the backends that run there and read one layout of the cache share.
class CaseOnDevice {
 public:
  /// `rounds`: the most that a cell takes. `processes`: that share the device.
  CaseOnDevice(const Case& c, Device& device, KvLayout layout, int rounds, int processes = 1)
      : source_(&c),
        case_(c),
        device_(&device),
        rounds_(rounds),
        processes_(processes),
        compared_(device, most_kept_bytes(device.info().memory_bytes, processes)) {
    case_.kv_cache.layout = layout;
    cost_ = count_cost(case_);
  }

  /// Throws EnvironmentError; once that has happened, at once.
  void build_again();
  /// Contents stay until the next use of fixture() or fixture_to_plan(). Returns the hash.
  const std::string& fill_for_timing();

  /// The case with this layout.
  [[nodiscard]] const Case& case_with_layout() const { return case_; }
  [[nodiscard]] const Cost& cost() const { return cost_; }
  [[nodiscard]] bool is_of(const Case& c) const { return source_ == &c; }
  [[nodiscard]] Device& device() const { return *device_; }
  /// The fixture for verification, which changes its contents. Built on first use; throws as
  /// build_again() does, as do those that follow.
  [[nodiscard]] Fixture& fixture();
  /// What backends are compared with themselves in; given back when the first of them plans.
  [[nodiscard]] ComparedFixtures& compared_fixtures() { return compared_; }
  /// The fixture for planning: its queries and cache hold poison, as an engine plans before a
  /// layer's data exist.
  [[nodiscard]] const Fixture& fixture_to_plan(std::size_t placement = 0);
  /// The fixture for timing.
  [[nodiscard]] const Fixture& filled_fixture() const { return *fixture_; }
  /// The filled fixture, which is set 0, or another of the same case and seed at other addresses,
  /// its index arrays included. Made on first use, for all backends here, and not filled before
  /// somebody fills it; throws EnvironmentError when there is no memory, and once that has
  /// happened, at once.
  [[nodiscard]] Fixture& input_set(std::size_t index);
  /// How many placements the samples of a cell take turns over: on a GPU, where workspace, outputs
  /// and cache lie moves a time by up to 1 %, steadily, so that repeating it shows nothing. No more
  /// than there are rounds.
  [[nodiscard]] std::size_t placements() const;
  /// The fixture of a placement: sets of their own where all of them, those of other processes
  /// included, take a small part of the device's memory, else the filled fixture for all.
  [[nodiscard]] Fixture& placed_fixture(std::size_t placement);
  /// The inputs of samples in the fixture of a placement.
  [[nodiscard]] CheckedInputs checked_inputs(std::size_t placement = 0);
  [[nodiscard]] SampleNumbers& sample_numbers() { return numbers_; }
  /// Names the memory of `fixture` that a forward changed but may not change; empty when there is
  /// none. Guards are restored and changed inputs filled again: the next backend is not to blame,
  /// and damage that is found again was done again.
  [[nodiscard]] std::string damage_of(Fixture& fixture);
  [[nodiscard]] Stream& stream();
  /// Null where a host clock times.
  [[nodiscard]] SampleTimer* timer();

 private:
  void build();
  [[nodiscard]] bool make_placed_sets();

  const Case* source_;
  Case case_;
  Cost cost_;
  Device* device_;
  int rounds_, processes_;
  std::unique_ptr<Fixture> fixture_;
  ComparedFixtures compared_;
  std::string no_memory_;                            ///< why there is no fixture
  std::string timing_hash_;                          ///< empty unless filled for timing
  std::vector<std::unique_ptr<Fixture>> more_sets_;  ///< from set 1 on
  std::string no_memory_for_sets_;
  std::optional<bool> placed_apart_;  ///< placements have sets of their own, once it is known
  std::map<const Fixture*, std::unique_ptr<SampleIo>> sample_io_;
  SampleNumbers numbers_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<SampleTimer> timer_;
};

/// The memory that is in the cache when an engine calls attention, in the order in which it was
/// written: the plan in its memory and the index arrays, once a step; the queries, by the layer's
/// projection just before. Keys and values are not in the cache: all other layers have read theirs
/// since. Addresses of the fixture's device; they live as long as both.
[[nodiscard]] std::vector<std::span<const std::byte>> serving_state(const Fixture& fixture,
                                                                    const PlanMemory& plan);

}  // namespace attnbench
