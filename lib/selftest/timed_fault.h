// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/device/device.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Faults of a backend that is correct in every check outside the timing: only the outputs of its
/// timed launches show them.
enum class TimedFault : std::uint8_t {
  kNone,
  kNothingWhenReplayed,
  kWrongWhenReplayed,
  kLengthsOfRecording,
  kOnlyTheFirstLaunches,
  kKeepsResultByPointer,
  kKeepsResultByFingerprint,
  kComputesAllInOne,
  kKeepsConvertedCache,
  kAnswersFromPlan,
  kWorksElsewhere,
  kRestsOnCacheReservation,
  kChangesInputsLater,
  kLeavesARowNowAndThen,
  kReadsTheCacheInInt8,
};

[[nodiscard]] std::string_view to_string(TimedFault fault);
[[nodiscard]] std::vector<TimedFault> all_timed_faults();  ///< without kNone

/// Whether the fault makes the figures of this launch mode wrong, so that they must be refused.
[[nodiscard]] bool shows_in(TimedFault fault, LaunchMode launch);
/// Whether it can be planted on such a device.
[[nodiscard]] bool exists_on(TimedFault fault, DeviceKind device);

}  // namespace attnbench
