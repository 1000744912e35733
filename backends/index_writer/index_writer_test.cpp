// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_writer/index_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/testing/select_conformance.h"

namespace attnbench::index_writer {
namespace {

TEST(IndexWriter, writes_the_new_keys_of_all_small_cases) {
  const auto device = make_cpu_device();
  std::vector<Case> cases = small_selections();
  cases.push_back(conformance::selecting_decodes(64, {1, 63, 64, 65, 4001}));
  int verified = 0;
  for (const SelectionScore score : {SelectionScore::kSum, SelectionScore::kMax}) {
    for (const std::int64_t page_size : {1, 16, 64}) {
      for (Case c : cases) {
        if (c.layer.selection.is_hierarchical() || c.layer.selection.compressed) continue;
        c.layer.selection.score = score;
        if (score == SelectionScore::kSum) c.layer.selection.unit = 1;
        c.kv_cache.page_size = page_size;
        c.padding = {.tokens = 3};
        c = with_step(c, StepPart::kIndexWrite);
        if (!why_not_built(c, c.step).empty()) continue;
        HostWriter writer;
        ASSERT_TRUE(supports_step(writer.info(), c)) << c.id;
        Fixture fixture(c, *device);
        VerifyConfig verify;
        verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
        const Verification found =
            verify_backend(c, writer, fixture, *device, compute_truth(c, verify));
        EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
        EXPECT_GT(found.slots_checked, 0) << c.id;
        ++verified;
      }
    }
  }
  EXPECT_GT(verified, 20);
}

TEST(IndexWriter, attends_to_nothing) {
  const Support attention = HostWriter().supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it writes index keys only");
}

}  // namespace
}  // namespace attnbench::index_writer
