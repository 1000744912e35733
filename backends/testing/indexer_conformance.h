// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/testing/select_conformance.h"

namespace attnbench::conformance {

/// The small cases with a selection of all heads, and decodes and chains of several tiles, with 64
/// index heads and fewer, by key and in pools, as steps that score keys: every logit that a query
/// sees within its bound, and nothing else touched.
inline void expect_scored_keys(const Registry::Factory& make, Device& device) {
  std::vector<Case> all = small_selections(), cases;
  all.push_back(selecting_decodes(64, {1, 63, 64, 65, 127, 128, 129, 4001}));
  for (const auto& [heads, unit] :
       {std::pair{1, 1}, {32, 1}, {64, 1}, {4, 4}, {32, 16}, {64, 128}}) {
    for (Case& each : all) {
      each.layer.selection.index_heads = heads;
      each.layer.selection.unit = unit;
    }
    cases.insert(cases.end(), all.begin(), all.end());
  }
  cases.push_back(selecting_decodes(2048, {9000, 40000}));
  cases.push_back(selecting_decodes(128, {15, 16, 1039, 1040, 2063, 2064, 40000}));
  cases.back().layer.selection.unit = 16;
  constexpr std::array<std::int64_t, 2> page_rows = {64, 128};  // which every indexer takes
  std::size_t i = 0;
  for (const Case& each : cases) {
    Case c = with_step(each, StepPart::kIndexer);
    c.kv_cache.page_size = page_rows[i++ % page_rows.size()] * c.layer.selection.unit;
    if (!why_not_built(c, StepPart::kIndexer).empty()) continue;
    if (c.layer.selection.scores_by_layer_heads()) continue;  // has as many heads as the layer
    const auto backend = make();
    ASSERT_TRUE(supports_step(backend->info(), c))
        << c.id << " of " << c.layer.selection.index_heads;
    ASSERT_TRUE(backend->supports(problem_of(c)))
        << c.id << " of " << c.layer.selection.index_heads;
    Fixture fixture(c, device);
    VerifyConfig verify;
    verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
    const Verification found =
        verify_backend(c, *backend, fixture, device, compute_truth(c, verify));
    EXPECT_EQ(found.verdict, Verdict::kPassed)
        << c.id << " of " << c.layer.selection.index_heads << ": " << found.reason;
    EXPECT_GT(found.slots_checked, 0) << c.id << " of " << c.layer.selection.index_heads;
  }
}

}  // namespace attnbench::conformance
