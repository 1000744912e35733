// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/fault.h"

#include <algorithm>
#include <array>
#include <utility>

namespace attnbench {
namespace {

constexpr std::array<std::pair<Fault, std::string_view>, 96> kNames{{
    {Fault::kNone, "none"},
    {Fault::kDropsLastToken, "drops the last token"},
    {Fault::kDropsFirstToken, "drops the first token"},
    {Fault::kSkipsAPage, "skips a page"},
    {Fault::kReadsAPageTwice, "reads a page twice"},
    {Fault::kSwapsTwoPages, "swaps two pages"},
    {Fault::kLastPageIsFirst, "takes the first page for the last"},
    {Fault::kIgnoresPageStride, "no gaps between pages"},
    {Fault::kHeadMapOffByOne, "KV head map off by one"},
    {Fault::kValueOfNextHead, "V of the next KV head"},
    {Fault::kForgetsScale, "forgets the scale"},
    {Fault::kScaleOfHalfTheDims, "scale of half of the dims"},
    {Fault::kCausalSeesNextKey, "causal: sees the next key"},
    {Fault::kCausalMissesOwnKey, "causal: misses its own key"},
    {Fault::kAlignsTopLeft, "causal: aligned at the top left"},
    {Fault::kCausalInsideBlocks, "causal inside of blocks"},
    {Fault::kBlockSeesNextBlock, "block: sees a key of the next"},
    {Fault::kIgnoresSpans, "ignores spans of a prompt"},
    {Fault::kSpanSeesNextKey, "span: sees the key behind it"},
    {Fault::kSpanOfTheOtherRule, "span: the window's other rule"},
    {Fault::kIgnoresSelection, "ignores the chosen keys"},
    {Fault::kIgnoresTopkLength, "chosen keys: no topk_length"},
    {Fault::kTakesMissingEntryForLastKey, "chosen keys: -1 for the last key"},
    {Fault::kListOfNextGroup, "chosen keys: the next group's"},
    {Fault::kListOfKvHead, "chosen keys: one per KV head"},
    {Fault::kCountsDuplicatesOnce, "chosen keys: duplicates once"},
    {Fault::kListOnePageLate, "chosen keys: a page late"},
    {Fault::kListDropsLastEntry, "chosen keys: one entry fewer"},
    {Fault::kOwnUnitTwice, "chosen keys: the own unit twice"},
    {Fault::kMissesOwnUnit, "chosen keys: not the newest"},
    {Fault::kTopkLengthOfTokenBefore, "chosen keys: length before"},
    {Fault::kNoWindowBesideList, "chosen keys: no window"},
    {Fault::kWindowOfWholeUnits, "chosen keys: window of units"},
    {Fault::kOneSoftmaxOfUnits, "chosen keys: units unweighed"},
    {Fault::kScoresOfTokenBefore, "chosen keys: scores before"},
    {Fault::kSeesLandmarks, "chosen keys: landmarks seen"},
    {Fault::kIgnoresCompressedRows, "compressed rows: none"},
    {Fault::kCompressedRowTooMany, "compressed rows: an open one"},
    {Fault::kCompressedRowTooFew, "compressed rows: not the last"},
    {Fault::kCountsTokensOnce, "compressed rows: none in window"},
    {Fault::kIgnoresTree, "ignores the draft tree"},
    {Fault::kIgnoresWindow, "ignores the window"},
    {Fault::kWindowOffByOne, "window off by one"},
    {Fault::kWindowCountsTheOtherWay, "window in a tree: depth for index"},
    {Fault::kIgnoresChunks, "ignores the chunks"},
    {Fault::kChunkOffByOne, "chunk off by one"},
    {Fault::kChunkIsAWindow, "takes a chunk for a window"},
    {Fault::kDualChunkOneForm, "dual chunks: intra for all keys"},
    {Fault::kDualChunkOffByOne, "dual chunks: begin a key late"},
    {Fault::kIgnoresSoftcap, "ignores the softcap"},
    {Fault::kIgnoresTemperature, "ignores the temperature"},
    {Fault::kTemperatureOffByOne, "temperature of the next query"},
    {Fault::kTemperatureBeforeCap, "temperature before the softcap"},
    {Fault::kNoMaximum, "does not subtract the maximum"},
    {Fault::kMaximumStartsAtZero, "starts the maximum at 0"},
    {Fault::kLseBaseTwo, "LSE in base 2"},
    {Fault::kLseForgetsSink, "LSE without the sink"},
    {Fault::kSinkCountedTwice, "counts the sink twice"},
    {Fault::kMergesWithoutRescale, "merges tiles without rescaling"},
    {Fault::kForgetsVScale, "forgets v_scale"},
    {Fault::kAccumulatesInBf16, "accumulates in bf16"},
    {Fault::kDividesByZeroQuery, "0 / 0 on a query of zeros"},
    {Fault::kDividesByZeroKey, "0 / 0 on a key of zeros"},
    {Fault::kDropsLastRopeDim, "MLA: drops the last rope dim"},
    {Fault::kValueBeginsOneDimLate, "MLA: V ends in the rope dims"},
    {Fault::kLongSplitDropsAKey, "long split drops its last key"},
    {Fault::kLongSplitRoundsWeights, "long split keeps weights in fp8"},
    {Fault::kWeightsInF16, "keeps weights in f16"},
    {Fault::kWeightsInBf16, "keeps weights in bf16"},
    {Fault::kWeightsInE4m3, "keeps weights in e4m3"},
    {Fault::kReadsTail, "reads the last page's tail"},
    {Fault::kTakesMissingPageForZero, "page table: -1 taken for page 0"},
    {Fault::kWritesBeyond, "writes one row beyond"},
    {Fault::kWritesBeyondWorkspace, "writes beyond its workspace"},
    {Fault::kLeavesLastRow, "leaves the last row unwritten"},
    {Fault::kLeavesAnElement, "leaves an element unwritten"},
    {Fault::kWritesInput, "writes into its input"},
    {Fault::kDiffersBetweenRuns, "differs between runs"},
    {Fault::kThrows, "throws"},
    {Fault::kDeltaNetIgnoresDecay, "delta net: no decay"},
    {Fault::kDeltaNetDecayOfNextKeyDim, "delta net: decay of next key dim"},
    {Fault::kDeltaNetNoSkip, "delta net: Mamba-2 without D"},
    {Fault::kDeltaNetIgnoresBeta, "delta net: no beta"},
    {Fault::kDeltaNetKeyHeadOffByOne, "delta net: key head off by one"},
    {Fault::kDeltaNetIgnoresInitialState, "delta net: no initial state"},
    {Fault::kDeltaNetKeepsStaleState, "delta net: stale initial state"},
    {Fault::kDeltaNetStateNotWritten, "delta net: state not written"},
    {Fault::kDeltaNetStateInAnotherSlot, "delta net: state in wrong slot"},
    {Fault::kDeltaNetUpdatesTwice, "delta net: updates twice"},
    {Fault::kDeltaNetNoNorm, "delta net: q, k not normalised"},
    {Fault::kDeltaNetNoEps, "delta net: 0 / 0 on zero key"},
    {Fault::kDeltaNetOutputBeforeUpdate, "delta net: output before update"},
    {Fault::kDeltaNetStateInBf16, "delta net: state kept in bf16"},
    {Fault::kDeltaNetVerifyCommits, "delta net: verify commits"},
    {Fault::kDeltaNetStateBeforeDraft, "delta net: state before draft"},
    {Fault::kDeltaNetTreeIsAChain, "delta net: tree as a chain"},
}};

}  // namespace

std::string_view to_string(Fault fault) {
  const auto* const found = std::ranges::find(kNames, fault, [](const auto& n) { return n.first; });
  return found == kNames.end() ? "?" : found->second;
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (const auto& [fault, name] : kNames) {
    if (fault != Fault::kNone) faults.push_back(fault);
  }
  return faults;
}

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
