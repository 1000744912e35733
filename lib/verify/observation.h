// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/fixture/fixture.h"
#include "lib/verify/verdict.h"
#include "reference/oracle.h"

namespace attnbench {

class ComparedFixtures;

/// What a verification asks of a backend: to run each fill, and to show these rows of the outputs.
/// It holds no expected values, so that a backend in another process cannot find the answers there.
struct WantedRows {
  std::vector<Fill> fills;
  std::vector<RowId> rows;
  /// In how many batches of some of its requests each request has to have the bits that it has in
  /// the whole batch (batch_compositions.h): other bits are a fault. 0: nothing is required, and
  /// two requests are tried alone.
  int compositions = 0;
  /// Of a composed step, whose own fills and rows are empty: those of each part (Case::parts).
  std::vector<WantedRows> parts;
};

/// What the run of one fill left in the outputs.
struct FillOutputs {
  /// Of each wanted row O in the dtype of the case, then its LSE as f32; of a recurrent layer O
  /// alone, or the row of the state in f32.
  std::vector<std::byte> rows;
  /// By wanted row: page of the pool that holds the query token's own key; -1: it has none.
  std::vector<std::int64_t> pages;
  /// By wanted row of a pipeline: the lists that its query token got, [groups, topk].
  std::vector<std::int32_t> lists;
  std::int64_t non_finite_elsewhere = 0;  ///< elements in rows that were not asked for
  WorstElement first_elsewhere;           ///< of them
};

/// What a backend did on a case, not judged yet.
struct Observation {
  Numerics numerics;
  std::vector<FillOutputs> fills;  ///< in the order of WantedRows::fills, as far as it came
  BitwiseProperties bitwise;
  std::int64_t slots_checked = 0;  ///< that the step wrote, over all runs
  /// Host time of the case's first plan and of its first run, until that has ended: with all that a
  /// library compiles, loads and tries out at the first use. 0: it did not come so far.
  double first_use_us = 0;
  double building_us = 0;           ///< host time in which fixtures were made and filled
  std::string kernel;               ///< Plan::kernel() of the first plan
  std::vector<std::string> faults;  ///< noticed beside the outputs: guards, inputs, determinism
  /// Damage that a run found and that its repetition did not, so that something else may have done
  /// it.
  std::vector<std::string> odd_damage;
  std::string crash;               ///< what it threw, and where; empty when it ended well
  std::vector<Observation> parts;  ///< of a composed step, of which nothing else is set
};

/// Before each repetition of a run or visit that changed memory which it may not: code of other
/// backends of the process may go on for a while behind their own turns. A backend that is to blame
/// costs a second more.
inline constexpr double kWaitsBeforeRepetition_s[] = {0.05, 0.2, 0.8};

/// Runs `backend` on every fill in `fixture` (poisoned outputs, guards and inputs re-checked after
/// each run, which is repeated where they changed) and tests the bitwise properties on the normal
/// data. Exceptions of the backend end it. Leaves the fixture filled with the last fill.
/// `others_may_run`: in this process, so that repetitions wait.
[[nodiscard]] Observation observe_backend(const Case& c, Backend& backend, Fixture& fixture,
                                          Device& device, const WantedRows& wanted,
                                          ComparedFixtures& others, bool others_may_run = false);

/// What lies in the outputs of `fixture` now. From a GPU only `rows` and those that are not finite
/// are copied. `with_lse`: an LSE that is not finite counts, too.
[[nodiscard]] FillOutputs take_outputs(const Fixture& fixture, std::span<const RowId> rows,
                                       bool with_lse = true);

}  // namespace attnbench
