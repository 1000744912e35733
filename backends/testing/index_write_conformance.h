// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/testing/select_conformance.h"

// What a backend has to show that writes index keys, or makes compressed rows.
namespace attnbench::conformance {

/// Writes the new keys of all small cases, and verifies each.
inline void expect_index_writes(Backend& writer, Device& device) {
  std::vector<Case> cases = small_selections();
  cases.push_back(selecting_decodes(64, {1, 63, 64, 65, 4001}));
  cases.push_back(selecting_decodes(64, {1, 2, 63, 64, 65, 4001}));
  cases.back().layer.selection.unit = 16;
  int verified = 0, with_pools = 0;
  for (const SelectionScore score : {SelectionScore::kSum, SelectionScore::kMax}) {
    for (const std::int64_t page_size : {1, 16, 64}) {
      for (Case c : cases) {
        if (c.layer.selection.is_hierarchical()) continue;
        c.layer.selection.score = score;
        c.kv_cache.page_size = round_up(page_size, c.layer.selection.pool());
        c.padding = {.tokens = 3};
        c = with_step(c, StepPart::kIndexWrite);
        if (!why_not_built(c, c.step).empty()) continue;
        ASSERT_TRUE(supports_step(writer.info(), c)) << c.id;
        Fixture fixture(c, device);
        VerifyConfig verify;
        verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
        const Verification found =
            verify_backend(c, writer, fixture, device, compute_truth(c, verify));
        EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
        EXPECT_GT(found.slots_checked, 0) << c.id;
        ++verified;
        with_pools += c.layer.selection.pool() > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(verified, 20);
  EXPECT_GT(with_pools, 10);
}

/// Makes the compressed rows of all small cases, and verifies each.
inline void expect_compressed_rows(Backend& compressor, Device& device) {
  int verified = 0;
  for (const Case& each : small_compressed()) {
    for (const std::int64_t ratio : {4, 128}) {
      Case c = each;
      c.layer.selection = {};
      c.layer.compress_ratio = ratio;
      c.kv_cache.page_size = round_up(c.kv_cache.page_size, ratio);
      c = with_step(c, StepPart::kCompress);
      if (!why_not_built(c, c.step).empty()) continue;
      ASSERT_TRUE(supports_step(compressor.info(), c)) << c.id;
      Fixture fixture(c, device);
      VerifyConfig verify;
      verify.fills = {Fill::kNormal, Fill::kTiming};
      const Verification found =
          verify_backend(c, compressor, fixture, device, compute_truth(c, verify));
      EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
      ++verified;
    }
  }
  EXPECT_GT(verified, 20);
}

}  // namespace attnbench::conformance
