// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnbench {

/// What the gate says of one cell, the most harmful first.
enum class GateVerdict : std::uint8_t {
  kIncorrect,      ///< the new result is wrong, crashed or faster than the machine allows
  kRegressed,      ///< slower than is allowed, or another limit of the policy is broken
  kNotComparable,  ///< measured under other conditions; the reason names the difference
  kSuspect,        ///< looks slower in separate runs, which cannot decide it
  kMissing,        ///< only the base has it
  kSkippedNow,     ///< ran in the base, not run now
  kNoVerdict,      ///< nothing to judge: no time, no interval, not verified
  kInconclusive,   ///< judged, and undecided; Doubt says why
  kNew,            ///< only the new result has it
  kImproved,
  kSame,
  kNotRun,  ///< in neither
};
inline constexpr GateVerdict kGateVerdicts[] = {
    GateVerdict::kIncorrect, GateVerdict::kRegressed,    GateVerdict::kNotComparable,
    GateVerdict::kSuspect,   GateVerdict::kMissing,      GateVerdict::kSkippedNow,
    GateVerdict::kNoVerdict, GateVerdict::kInconclusive, GateVerdict::kNew,
    GateVerdict::kImproved,  GateVerdict::kSame,         GateVerdict::kNotRun};
/// "REGRESSED", "SKIPPED_NOW", "NO_VERDICT" …
[[nodiscard]] std::string_view to_string(GateVerdict verdict);

/// Why a cell is INCONCLUSIVE.
enum class Doubt : std::uint8_t {
  kNone,
  kStraddles,  ///< the interval holds values on both sides of what is allowed
  kClock,      ///< the change is not there in clock cycles, or the device throttled
  kFewPairs,   ///< too few for a 99 % interval
  kManyCells,  ///< among so many suspects a change this unlikely happens by chance (Holm)
};
/// "straddles", "clock", "few_pairs", "many_cells"; "" for none.
[[nodiscard]] std::string_view to_string(Doubt doubt);

struct Judgement {
  GateVerdict verdict = GateVerdict::kNoVerdict;
  std::string reason = {};  ///< a sentence for people; may be empty
  Doubt doubt = Doubt::kNone;
};

}  // namespace attnbench
