// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/common/kernel_support.h"
#include "backends/paged_fa/testing/gpu_cases.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench::paged_fa {
namespace {

class PagedFaSpansGpu : public GpuTest {};

/// Prompts with a span that a cached prefix holds a part of, one inside, and one whose end is yet
/// to come.
Case with_spans(Case c) {
  c.id += "/spans";
  for (Request& request : c.requests) {
    const std::int64_t prefix = request.prefix_len(), q_len = request.q_len;
    if (q_len < 13) continue;
    request.spans = {{std::max<std::int64_t>(prefix - 150, 0), prefix + 3},
                     {prefix + 5, prefix + q_len / 2},
                     {request.kv_len - 3, request.kv_len + 40}};
  }
  return c;
}

TEST_F(PagedFaSpansGpu, sees_spans_to_their_ends_in_tiles_of_every_size) {
  for (const std::int64_t q_len : {13, 50, 150, 300}) {
    const Case plain = with_spans(extend(2, 4, 128, 128, q_len));
    Case over = plain, within = plain, features = plain, pages = plain;
    over.layer.sliding_window_size = within.layer.sliding_window_size = 80;
    within.layer.span_rule = SpanRule::kWithinWindow;
    features.layer.has_sinks = true;
    features.layer.logit_cap = 5;
    features.layer.temperature_len = 127;
    pages.kv_cache.page_size = 24;
    pages.kv_cache.layout = KvLayout::kHnd;
    for (Case c : {plain, over, within, features, pages, ragged(within)}) {
      expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
      if (c.kv_cache.layout == KvLayout::kRagged) continue;
      c.kv_cache.dtype = DType::kE4M3;  // many rows read it once it is wide
      c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

TEST_F(PagedFaSpansGpu, sees_spans_in_every_kernel_for_them) {
  if (!kAllKernels) GTEST_SKIP() << "a build with few kernels";
  for (const auto& [dk, dv] : {std::pair{64, 64}, {96, 96}, {192, 128}, {256, 256}}) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (const DType kv : {dtype, DType::kE4M3, DType::kE5M2}) {
        for (const std::int64_t q_len : {13, 150}) {
          Case c = with_spans(extend(1, 4, dk, dv, q_len));
          c.dtype = dtype;
          c.kv_cache.dtype = kv;
          if (size_bytes(kv) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
          expect_agreement(c, *device_, {Fill::kNormal});
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnbench::paged_fa
