// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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
  kHeadMapOffByOne,
  kValueOfNextHead,
  kForgetsScale,
  kScaleOfHalfTheDims,
  kCausalSeesNextKey,
  kCausalMissesOwnKey,
  kAlignsTopLeft,
  kCausalInsideBlocks,
  kBlockSeesNextBlock,
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

}  // namespace attnbench
