// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/features.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace attnbench {
namespace {

struct Example {
  Feature feature;
  std::function<void(Problem&)> set;
  std::string refusal;
};

const Example kExamples[] = {
    {Feature::kRecurrent, [](Problem& p) { p.layer.family = Family::kGatedDeltaNet; },
     "no recurrent layers"},
    {Feature::kLatent, [](Problem& p) { p.layer.family = Family::kLatent; }, "no MLA"},
    {Feature::kCrossAttention,
     [](Problem& p) {
       p.layer.is_cross_attention = true;
       p.layer.causal = false;
     },
     "no cross attention"},
    {Feature::kNotCausal, [](Problem& p) { p.layer.causal = false; }, "causal layers only"},
    {Feature::kDraftTrees, [](Problem& p) { p.mode = ForwardMode::kTargetVerify; },
     "no draft trees that branch"},
    {Feature::kItems, [](Problem& p) { p.multi_item = true; }, "no multi-item scoring"},
    {Feature::kSpans, [](Problem& p) { p.spans = true; }, "no spans that see both ways"},
    {Feature::kBlocks, [](Problem& p) { p.layer.causal_block = 32; }, "no block diffusion"},
    {Feature::kSelection, [](Problem& p) { p.layer.selection.topk = 8; }, "no chosen keys"},
    {Feature::kListsOfHeads, [](Problem& p) { p.layer.selection.groups = SelectionGroups::kHeads; },
     "no lists of each query head"},
    {Feature::kHierarchy, [](Problem& p) { p.layer.selection.window = 8; },
     "no hierarchical sparse attention"},
    {Feature::kWindow, [](Problem& p) { p.layer.sliding_window_size = 0; }, "no sliding window"},
    {Feature::kChunks, [](Problem& p) { p.layer.attention_chunk = 8; }, "no chunked attention"},
    {Feature::kDualChunks,
     [](Problem& p) {
       p.layer.dual_chunk = {8, 2};
     },
     "no dual chunks"},
    {Feature::kTemperature, [](Problem& p) { p.layer.temperature_len = 2; }, "no temperature"},
    {Feature::kSoftcap, [](Problem& p) { p.layer.logit_cap = 30; }, "no softcap"},
    {Feature::kSinks, [](Problem& p) { p.layer.has_sinks = true; }, "no sinks"},
    {Feature::kAlibi, [](Problem& p) { p.layer.has_alibi = true; }, "no ALiBi"},
    {Feature::kEmptyRows, [](Problem& p) { p.empty_rows = true; }, "no rows without keys"},
    {Feature::kPrefixAlone, [](Problem& p) { p.prefix_alone = true; }, "no pass over only"},
    {Feature::kSwaPool, [](Problem& p) { p.swa_pool = true; }, "no cache that is a window's"},
    {Feature::kPageGaps, [](Problem& p) { p.cache.page_stride = 2; }, "no gaps between pages"},
};

TEST(UnsupportedByDefault, RefusesEachFeatureUntilItIsNamed) {
  EXPECT_TRUE(unsupported_by_default({}, {}));
  for (const Example& example : kExamples) {
    Problem problem;
    example.set(problem);
    const Support unnamed = unsupported_by_default(problem, {});
    EXPECT_FALSE(unnamed) << example.refusal;
    EXPECT_EQ(unnamed.reason().find(example.refusal), 0u) << unnamed.reason();
    EXPECT_TRUE(unsupported_by_default(problem, {example.feature})) << example.refusal;
  }
}

TEST(UnsupportedByDefault, AddsWhatTheBackendSaysOfItself) {
  Problem problem;
  problem.layer.has_alibi = true;
  EXPECT_EQ(unsupported_by_default(problem, {}, "it knows no positions").reason(),
            "no ALiBi: it knows no positions");
}

TEST(UnsupportedByDefault, TakesChainsOfDraftsWithoutATree) {
  Problem problem;
  problem.mode = ForwardMode::kTargetVerify;
  problem.drafts_are_chains = true;
  EXPECT_TRUE(unsupported_by_default(problem, {}));
}

}  // namespace
}  // namespace attnbench
