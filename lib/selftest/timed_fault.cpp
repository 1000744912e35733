// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/timed_fault.h"

#include <algorithm>
#include <array>

namespace attnbench {
namespace {

struct Description {
  TimedFault fault;
  std::string_view name;
  bool eager, graph;  ///< shows in these launches
  bool cpu, cuda;     ///< exists there
};

constexpr std::array kDescriptions{
    Description{TimedFault::kNone, "none", false, false, true, true},
    Description{TimedFault::kNothingWhenReplayed, "does nothing when replayed", false, true, false,
                true},
    Description{TimedFault::kWrongWhenReplayed, "is right in eager launches only", false, true,
                false, true},
    Description{TimedFault::kLengthsOfRecording, "keeps the lengths of its recording", false, true,
                false, true},
    Description{TimedFault::kOnlyTheFirstLaunches, "is right on the first launches only", true,
                false, true, true},
    Description{TimedFault::kKeepsResultByPointer, "keeps its result, by pointer", true, true, true,
                true},
    // A GPU's forward cannot read its inputs without waiting for them.
    Description{TimedFault::kKeepsResultByFingerprint, "keeps its result, by fingerprint", true,
                false, true, false},
    Description{TimedFault::kComputesAllInOne, "computes all samples in one", true, true, true,
                true},
    Description{TimedFault::kKeepsConvertedCache, "keeps a conversion of the cache", true, true,
                true, true},
    Description{TimedFault::kAnswersFromPlan, "computes the answer while planning", true, true,
                true, true},
    Description{TimedFault::kWorksElsewhere, "works on another stream or thread", true, true, true,
                true},
    Description{TimedFault::kRestsOnCacheReservation, "rests on lines that it reserved in the L2",
                true, false, false, true},
    Description{TimedFault::kChangesInputsLater, "changes its inputs in later launches", true,
                false, true, true},
    Description{TimedFault::kLeavesARowNowAndThen, "leaves a row unwritten now and then", true,
                false, true, true},
    // On a GPU it would take a kernel of its own.
    Description{TimedFault::kReadsTheCacheInInt8, "reads keys and values in int8", true, false,
                true, false},
};

const Description& description_of(TimedFault fault) {
  return *std::ranges::find(kDescriptions, fault, &Description::fault);
}

}  // namespace

std::string_view to_string(TimedFault fault) { return description_of(fault).name; }

std::vector<TimedFault> all_timed_faults() {
  std::vector<TimedFault> faults;
  for (const Description& each : kDescriptions) {
    if (each.fault != TimedFault::kNone) faults.push_back(each.fault);
  }
  return faults;
}

bool shows_in(TimedFault fault, LaunchMode launch) {
  const Description& description = description_of(fault);
  return launch == LaunchMode::kGraph ? description.graph : description.eager;
}

bool exists_on(TimedFault fault, DeviceKind device) {
  const Description& description = description_of(fault);
  return device == DeviceKind::kCuda ? description.cuda : description.cpu;
}

}  // namespace attnbench
