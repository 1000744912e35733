// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/device/device.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Faults of attention kernels. Each one has occurred in a real kernel.
enum class Fault : std::uint8_t {
  kNone,
  kDropsLastToken,
  kDropsFirstToken,
  kSkipsAPage,
  kReadsAPageTwice,
  kSwapsTwoPages,
  kLastPageIsFirst,
  kIgnoresPageStride,
  kHeadMapOffByOne,
  kValueOfNextHead,
  kForgetsScale,
  kScaleOfHalfTheDims,
  kCausalSeesNextKey,
  kCausalMissesOwnKey,
  kAlignsTopLeft,
  kCausalInsideBlocks,
  kBlockSeesNextBlock,
  kIgnoresSpans,
  kSpanSeesNextKey,
  kSpanOfTheOtherRule,
  kIgnoresSelection,
  kIgnoresTopkLength,
  kTakesMissingEntryForLastKey,
  kListOfNextGroup,
  kListOfKvHead,
  kCountsDuplicatesOnce,
  kListOnePageLate,
  kListDropsLastEntry,
  kOwnUnitTwice,
  kMissesOwnUnit,
  kTopkLengthOfTokenBefore,
  kNoWindowBesideList,
  kWindowOfWholeUnits,
  kOneSoftmaxOfUnits,
  kScoresOfTokenBefore,
  kSeesLandmarks,
  kIgnoresCompressedRows,
  kCompressedRowTooMany,
  kCompressedRowTooFew,
  kCountsTokensOnce,
  kIgnoresTree,
  kIgnoresWindow,
  kWindowOffByOne,
  kWindowCountsTheOtherWay,
  kIgnoresChunks,
  kChunkOffByOne,
  kChunkIsAWindow,
  kDualChunkOneForm,
  kDualChunkOffByOne,
  kIgnoresSoftcap,
  kIgnoresTemperature,
  kTemperatureOffByOne,
  kTemperatureBeforeCap,
  kNoMaximum,
  kMaximumStartsAtZero,
  kLseBaseTwo,
  kLseForgetsSink,
  kSinkCountedTwice,
  kMergesWithoutRescale,
  kForgetsVScale,
  kAccumulatesInBf16,
  kDividesByZeroQuery,
  kDividesByZeroKey,
  kDropsLastRopeDim,
  kValueBeginsOneDimLate,
  kLongSplitDropsAKey,
  kLongSplitRoundsWeights,
  kWeightsInF16,
  kWeightsInBf16,
  kWeightsInE4m3,
  kReadsTail,
  kTakesMissingPageForZero,
  kWritesBeyond,
  kWritesBeyondWorkspace,
  kLeavesLastRow,
  kLeavesAnElement,
  kWritesInput,
  kDiffersBetweenRuns,
  kThrows,
  // Of recurrent layers alone.
  kDeltaNetIgnoresDecay,
  kDeltaNetDecayOfNextKeyDim,
  kDeltaNetNoSkip,
  kDeltaNetIgnoresBeta,
  kDeltaNetKeyHeadOffByOne,
  kDeltaNetIgnoresInitialState,
  kDeltaNetKeepsStaleState,
  kDeltaNetStateNotWritten,
  kDeltaNetStateInAnotherSlot,
  kDeltaNetUpdatesTwice,
  kDeltaNetNoNorm,
  kDeltaNetNoEps,
  kDeltaNetOutputBeforeUpdate,
  kDeltaNetStateInBf16,
  kDeltaNetVerifyCommits,
  kDeltaNetStateBeforeDraft,
  kDeltaNetTreeIsAChain,
};

/// Whether the fault is one of recurrent layers, which none of the others touches.
[[nodiscard]] constexpr bool is_of_delta_net(Fault fault) {
  return fault >= Fault::kDeltaNetIgnoresDecay;
}

[[nodiscard]] std::string_view to_string(Fault fault);
[[nodiscard]] std::vector<Fault> all_faults();  ///< without kNone

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
