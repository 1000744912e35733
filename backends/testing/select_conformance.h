// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "backends/testing/conformance.h"
#include "lib/verify/step_support.h"

namespace attnbench::conformance {

/// Decodes of such lengths, with a selection of `topk`.
inline Case selecting_decodes(std::int64_t topk, std::initializer_list<std::int64_t> kv_lens) {
  Case c = small_plain_decode();
  c.id = fmt::format("top_{}", topk);
  c.layer.selection.topk = topk;
  c.requests.clear();
  for (const std::int64_t kv_len : kv_lens) {
    Request request;
    request.group = "decode";
    request.kv_len = kv_len;
    c.requests.push_back(request);
  }
  return c;
}

/// The small cases with a selection, and rows shorter, as long as and longer than a list, as steps
/// that select: the highest scores, and nothing else touched.
inline void expect_selected_keys(const Registry::Factory& make, Device& device) {
  std::vector<Case> all = small_selections();
  all.push_back(selecting_decodes(1, {1, 2, 3, 4, 5, 63, 64, 65, 1000}));
  all.push_back(selecting_decodes(64, {1, 63, 64, 65, 127, 128, 129, 4001, 4002, 4003, 4004}));
  all.push_back(selecting_decodes(2048, {2047, 2048, 2049, 4096, 9000, 9001, 9002, 9003, 9004}));
  all.push_back(selecting_decodes(2048, {40000, 40001, 40002, 70003, 70004, 70005, 131072}));
  all.push_back(selecting_decodes(100, {131072}));
  // Lists longer than shared memory, rows without one beside the longest, lists of each KV head.
  all.push_back(selecting_decodes(40000, {131072, 39999, 40001, 100000}));
  all.push_back(selecting_decodes(512, {1, 512, 513, 514, 16384, 131071}));
  all.push_back(selecting_decodes(2048, {50000, 20000, 1000}));
  all.back().layer.selection.groups = SelectionGroups::kKvHeads;
  for (const Case& each : all) {
    const Case c = with_step(each, StepPart::kSelect);
    const auto backend = make();
    const bool hierarchical = c.layer.selection.is_hierarchical();
    if (!why_not_built(c, StepPart::kSelect).empty()) continue;
    const bool in_front = c.layer.selection.padding == SelectionPadding::kFront;
    if (in_front && !backend->info().pads_front) continue;
    ASSERT_TRUE(supports_step(backend->info(), c)) << c.id;
    if (hierarchical && !backend->supports(problem_of(c))) continue;
    ASSERT_TRUE(backend->supports(problem_of(c))) << c.id;
    Fixture fixture(c, device);
    VerifyConfig verify;
    verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
    const Verification found =
        verify_backend(c, *backend, fixture, device, compute_truth(c, verify));
    EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
    EXPECT_GT(found.slots_checked, 0) << c.id;
  }
}

}  // namespace attnbench::conformance
