// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/gate_verdict.h"

namespace attnbench {

std::string_view to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kIncorrect:
      return "INCORRECT";
    case GateVerdict::kRegressed:
      return "REGRESSED";
    case GateVerdict::kNotComparable:
      return "NOT_COMPARABLE";
    case GateVerdict::kSuspect:
      return "SUSPECT";
    case GateVerdict::kMissing:
      return "MISSING";
    case GateVerdict::kSkippedNow:
      return "SKIPPED_NOW";
    case GateVerdict::kNoVerdict:
      return "NO_VERDICT";
    case GateVerdict::kInconclusive:
      return "INCONCLUSIVE";
    case GateVerdict::kNew:
      return "NEW";
    case GateVerdict::kImproved:
      return "IMPROVED";
    case GateVerdict::kSame:
      return "SAME";
    case GateVerdict::kNotRun:
      return "NOT_RUN";
  }
  return "";
}

std::string_view to_string(Doubt doubt) {
  switch (doubt) {
    case Doubt::kNone:
      return "";
    case Doubt::kStraddles:
      return "straddles";
    case Doubt::kClock:
      return "clock";
    case Doubt::kFewPairs:
      return "few_pairs";
    case Doubt::kManyCells:
      return "many_cells";
  }
  return "";
}

}  // namespace attnbench
