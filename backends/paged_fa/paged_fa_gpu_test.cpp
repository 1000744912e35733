// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/paged_fa.h"

#include <algorithm>

#include "backends/common/kernel_support.h"
#include "backends/paged_fa/testing/gpu_cases.h"
#include "backends/testing/conformance.h"
#include "backends/testing/graph_conformance.cuh"
#include "backends/wrappers/wrappers.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::paged_fa {
namespace {

class PagedFaGpu : public GpuTest {};

std::unique_ptr<Backend> make() {
  return with_item_passes(std::make_unique<PagedFaBackend>(), ItemKeys::kInPages,
                          merge_states_on_gpu);
}

TEST_F(PagedFaGpu, conforms) { conformance::expect_all(make, *device_); }

TEST_F(PagedFaGpu, gives_the_same_bits_beside_rows_of_no_request) {
  conformance::expect_token_rows_change_nothing(make, *device_);
}

TEST_F(PagedFaGpu, reads_pages_beyond_2_32_elements) {
  conformance::expect_big_offsets(make, *device_);
}

TEST_F(PagedFaGpu, repeats_other_batches_from_a_graph) {
  conformance::expect_graph_replay(make, *device_);
}

TEST_F(PagedFaGpu, repeats_steps_of_large_and_of_small_tiles_from_one_graph) {
  // With eight heads 5 tiles for each of eight trees are too many to be small ones, for five not.
  AttentionLayer layer = small_tree_verify().layer;
  layer.heads_kv = 8;
  layer.heads_q = 160;
  conformance::expect_graph_replay(make, *device_, layer, ForwardMode::kTargetVerify);
}

TEST_F(PagedFaGpu, repeats_steps_of_a_chunked_layer_with_a_temperature_from_one_graph) {
  AttentionLayer layer = small_tree_verify().layer;
  layer.attention_chunk = 256;
  layer.temperature_len = 64;
  conformance::expect_graph_replay(make, *device_, layer, ForwardMode::kDecode);
  conformance::expect_graph_replay(make, *device_, layer, ForwardMode::kTargetVerify);
}

TEST_F(PagedFaGpu, agrees_with_the_reference_where_contexts_are_split) {
  for (Case c : {small_prefix_hits(), small_chunked_mixed(), small_tree_verify(),
                 small_sliding_window(), small_fp8(), small_cross()}) {
    c.id += "/long";
    for (Request& request : c.requests) request.kv_len += 2100;
    expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, reads_scales_of_heads_and_requests_in_tiles_of_any_size) {
  for (const std::int64_t q_len : {1, 13, 150}) {
    for (const KvScales scales : {KvScales::kHead, KvScales::kRequest}) {
      for (const double softcap : {0.0, 5.0}) {
        Case c = extend(q_len == 13 ? 8 : 2, 4, 128, 128, q_len);
        c.id += "/" + std::string(to_string(scales));
        c.kv_cache.dtype = DType::kE4M3;
        c.kv_cache.scales = scales;
        c.layer.logit_cap = softcap;
        EXPECT_FALSE(PagedFaBackend().formats(problem_of(c)).empty());
        expect_agreement(c, *device_, {Fill::kTag, Fill::kNormal});
      }
    }
  }
}

TEST_F(PagedFaGpu, rounds_outputs_in_fp8_once_in_every_kernel) {
  for (const std::int64_t q_len : {1, 13, 150}) {
    for (const DType kv : {DType::kBF16, DType::kE4M3}) {
      for (const DType out : {DType::kE4M3, DType::kE5M2}) {
        Case c = extend(q_len == 13 ? 8 : 2, 4, 128, 128, q_len);
        c.id += "/" + std::string(to_string(kv)) + "/" + std::string(to_string(out));
        c.kv_cache.dtype = kv;
        if (size_bytes(kv) == 1) c.kv_cache.scales = KvScales::kRequest;
        c.fp8.out = out;
        c.out_scale = 0.07f;
        expect_agreement(c, *device_, {Fill::kTag, Fill::kExtreme, Fill::kNormal});
      }
    }
  }
}

TEST_F(PagedFaGpu, agrees_with_the_reference_for_every_kernel) {
  const int dims[][2] = {{64, 64}, {96, 96}, {128, 128}, {192, 128}, {256, 256}};
  for (const auto& [dk, dv] : dims) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (const DType kv : {dtype, DType::kE4M3, DType::kE5M2}) {
        for (const std::int64_t q_len : {1, 13, 150}) {  // tiles of 16, 64 and 128 rows
          // Enough tiles of eight heads fill a GPU, so that 13 tokens are not cut into tiles of 16.
          Case c = extend(q_len == 13 ? 8 : 1, 4, dk, dv, q_len);
          c.dtype = dtype;
          c.kv_cache.dtype = kv;
          if (size_bytes(kv) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
          expect_agreement(c, *device_, {Fill::kNormal});
        }
      }
    }
  }
}

TEST_F(PagedFaGpu, agrees_with_the_reference_over_long_tiles_of_every_feature) {
  for (const auto& [dk, dv] : {std::pair{64, 64}, {128, 128}, {192, 128}, {256, 256}}) {
    const Case plain = extend(1, 4, dk, dv, 150);
    Case windowed = plain, capped = plain, sinks = plain, both_ways = plain, encoder = plain;
    windowed.layer.sliding_window_size = 100;
    capped.layer.logit_cap = 5;
    sinks.layer.has_sinks = true;
    both_ways.layer.causal = encoder.layer.causal = false;
    encoder.layer.sliding_window_size = 40;
    for (Case c : {plain, windowed, capped, sinks, both_ways, encoder}) {
      expect_agreement(c, *device_, {Fill::kTag, Fill::kNeedle, Fill::kNormal, Fill::kExtreme});
    }
  }
}

TEST_F(PagedFaGpu, takes_pages_of_any_size_in_either_order) {
  for (const auto& [dk, dv] : {std::pair{64, 64}, {128, 128}, {192, 128}, {256, 256}}) {
    if (!kAllKernels && dk != 128) continue;
    for (const std::int64_t page_size : {1, 3, 8, 16, 24, 100, 256}) {
      for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd}) {
        Case c = extend(2, 4, dk, dv, 70);
        c.kv_cache.page_size = page_size;
        c.kv_cache.layout = layout;
        expect_agreement(c, *device_, {Fill::kTag});
      }
    }
  }
}

TEST_F(PagedFaGpu, reads_keys_in_fp8_once_they_are_wide_where_queries_are_many) {
  for (const auto& [dk, dv] : {std::pair{64, 64}, {128, 128}, {192, 128}, {256, 256}}) {
    if (!kAllKernels && dk != 128) continue;
    for (const std::int64_t page_size : {1, 16, 24}) {
      for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd}) {
        Case plain = extend(2, 4, dk, dv, 150);  // and decodes' tiles where requests are short
        plain.kv_cache.dtype = DType::kE4M3;
        plain.kv_cache.k_scale = 0.37f, plain.kv_cache.v_scale = 0.11f;
        plain.kv_cache.page_size = page_size;
        plain.kv_cache.layout = layout;
        expect_agreement(plain, *device_, {Fill::kNeedle, Fill::kNormal});
        // Masks meet the wide keys, wherever these came from.
        if (page_size != 16 || layout != KvLayout::kNhd) continue;
        Case window = plain, both_ways = plain, sinks = plain, chunks = plain;
        window.layer.sliding_window_size = 100;
        both_ways.layer.causal = false;
        sinks.layer.has_sinks = true;
        chunks.layer.attention_chunk = 100;
        for (const Case& c : {window, both_ways, sinks, chunks}) {
          expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
        }
      }
    }
    Case keys = ragged(extend(2, 4, dk, dv, 150));
    keys.kv_cache.dtype = DType::kE5M2;
    if (!kAllKernels) keys.kv_cache.dtype = DType::kE4M3;
    expect_agreement(keys, *device_, {Fill::kNeedle, Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, begins_a_window_in_the_middle_of_a_page_and_cuts_it_there) {
  for (const std::int64_t page_size : {8, 16, 32, 64}) {
    Case c = extend(2, 4, 128, 128, 70);
    c.kv_cache.page_size = page_size;
    c.layer.sliding_window_size = 2345;  // long enough to be cut, and no multiple of anything
    for (Request& request : c.requests) request.kv_len += 3000;
    expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, takes_any_group_of_query_heads) {
  for (const int group : {1, 2, 3, 7, 8, 16, 17}) {
    for (const std::int64_t q_len : {1, 50}) {
      expect_agreement(extend(2, group, 64, 64, q_len), *device_, {Fill::kTag});
    }
  }
}

TEST_F(PagedFaGpu, reads_ragged_keys_in_tiles_of_every_size) {
  for (const std::int64_t q_len : {1, 13, 150, 600}) {  // up to tiles of wgmma over whole boxes
    for (const int group : {1, 4}) {
      Case plain = ragged(extend(q_len == 13 ? 8 : 2, group, 128, 128, q_len));
      expect_agreement(plain, *device_, {Fill::kTag, Fill::kNeedle, Fill::kNormal});
      Case window = plain, both_ways = plain, encoder = plain, chunks = plain;
      window.layer.sliding_window_size = 100;
      both_ways.layer.causal = encoder.layer.causal = false;
      encoder.layer.sliding_window_size = 40;
      chunks.layer.attention_chunk = 100;
      for (const Case& c : {window, both_ways, encoder, chunks}) {
        expect_agreement(c, *device_, {Fill::kTag, Fill::kNeedle});
      }
    }
  }
}

TEST_F(PagedFaGpu, reads_ragged_keys_that_begin_at_any_row_up_to_the_last) {
  for (std::int64_t before = 1; before <= 33; before += 4) {
    Case c = ragged(extend(2, 4, 128, 128, 150));
    c.requests.front().kv_len = c.requests.front().q_len = before;
    expect_agreement(c, *device_, {Fill::kTag});
    std::ranges::reverse(c.requests);
    expect_agreement(c, *device_, {Fill::kTag});
  }
}

TEST_F(PagedFaGpu, reads_ragged_keys_of_other_types_and_of_an_expanded_mla) {
  if (!kAllKernels) GTEST_SKIP() << "a build with few kernels";
  for (const auto& [dk, dv] : {std::pair{64, 64}, {192, 128}, {256, 256}}) {
    for (const std::int64_t q_len : {1, 13, 150}) {
      Case c = ragged(extend(4, 1, dk, dv, q_len));
      expect_agreement(c, *device_, {Fill::kTag, Fill::kNormal});
      c.kv_cache.dtype = DType::kE4M3;
      c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      expect_agreement(c, *device_, {Fill::kNormal});
    }
  }
}

TEST_F(PagedFaGpu, pads_rows_of_72_to_80_and_writes_no_more_than_72) {
  if (!kAllKernels) GTEST_SKIP() << "a build with few kernels";
  for (const int dim : {72, 80}) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (const std::int64_t q_len : {1, 13, 150}) {
        // One and three KV heads: rows that begin at odd multiples of 16 bytes. Of long prompts
        // three fill a GPU, so that all kinds of tiles are met.
        for (const int heads_kv : {1, 3, 16}) {
          if (q_len == 150 && heads_kv == 16) continue;
          Case c = extend(heads_kv, heads_kv == 3 ? 2 : 1, dim, dim, q_len);
          c.dtype = c.kv_cache.dtype = dtype;
          expect_agreement(c, *device_, {Fill::kTag, Fill::kNormal});
          c.kv_cache.layout = KvLayout::kHnd;
          expect_agreement(c, *device_, {Fill::kTag});
          c = ragged(c);
          c.layer.causal = false;
          expect_agreement(c, *device_, {Fill::kTag, Fill::kNeedle, Fill::kNormal});
          c.layer.sliding_window_size = 64;
          expect_agreement(c, *device_, {Fill::kTag});
        }
      }
    }
  }
  Case fp8 = extend(2, 1, 72, 72, 13);
  fp8.kv_cache.dtype = DType::kE4M3;
  EXPECT_NE(PagedFaBackend().supports(problem_of(fp8)).reason().find("72 and 80"),
            std::string::npos);
}

TEST_F(PagedFaGpu, knows_each_meaning_of_a_window) {
  for (const Case& c : small_windows()) {
    if (c.dtype == DType::kF32) continue;
    expect_agreement(c, *device_, {Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, sees_the_own_chunk_in_tiles_of_every_size) {
  for (const std::int64_t chunk : {64, 100, 512}) {
    for (const std::int64_t q_len : {1, 21, 200, 600}) {
      Case c = extend(2, 4, 128, 128, q_len);
      c.layer.attention_chunk = chunk;
      expect_agreement(c, *device_, {Fill::kNeedle, Fill::kTag, Fill::kNormal});
      c.layer.sliding_window_size = 80;
      expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

TEST_F(PagedFaGpu, meets_keys_in_the_form_of_the_query_that_their_dual_chunk_asks_for) {
  for (const Case& c : small_dual_chunks()) {
    if (c.dtype == DType::kF32) continue;
    if (c.mode == ForwardMode::kTargetVerify) {
      EXPECT_EQ(PagedFaBackend().supports(problem_of(c)).reason(),
                "no drafts in dual chunks (see splitkv)");
      continue;
    }
    expect_agreement(c, *device_, {Fill::kNeedle, Fill::kSparseInt, Fill::kNormal});
  }
  for (const DualChunk dual :
       {DualChunk{70, 7}, DualChunk{128, 0}, DualChunk{1024, 24}, DualChunk{8192, 1024}}) {
    for (const int dim : {64, 128}) {
      for (const std::int64_t q_len : {1, 21, 200}) {
        Case c = extend(2, 4, dim, dim, q_len);
        c.layer.dual_chunk = dual;
        expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
        c.layer.has_sinks = true;
        c.layer.logit_cap = 5;
        c.layer.temperature_len = 127;
        c.kv_cache.page_size = 24;
        expect_agreement(c, *device_, {Fill::kNormal});
      }
    }
  }
}

TEST_F(PagedFaGpu, cuts_the_parts_of_dual_chunks_where_contexts_are_long) {
  for (Case c : {small_prefix_hits(), small_chunked_mixed(), small_fp8()}) {
    c.id += "/long";
    for (Request& request : c.requests) request.kv_len += 5000;
    for (const DualChunk dual : {DualChunk{100, 7}, DualChunk{1024, 24}}) {
      c.layer.dual_chunk = dual;
      expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

TEST_F(PagedFaGpu, reads_ragged_keys_of_dual_chunks) {
  for (const std::int64_t q_len : {13, 300}) {
    Case c = ragged(extend(2, 4, 128, 128, q_len));
    c.layer.dual_chunk = {100, 28};
    expect_agreement(c, *device_, {Fill::kNeedle, Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, warms_late_logits_in_tiles_of_every_size) {
  for (const std::int64_t q_len : {1, 21, 200}) {
    Case c = extend(2, 4, 128, 128, q_len);
    c.layer.temperature_len = 127;
    expect_agreement(c, *device_, {Fill::kExtreme, Fill::kNormal});
    c.layer.logit_cap = 3;
    expect_agreement(c, *device_, {Fill::kNormal});
  }
}

TEST_F(PagedFaGpu, computes_virtual_batches_as_it_computes_chunks) {
  const auto make = [] { return with_virtual_batches(std::make_unique<PagedFaBackend>()); };
  conformance::expect_agreement(make, *device_);
  for (const std::int64_t q_len : {1, 200, 600}) {
    Case c = extend(2, 4, 128, 128, q_len);
    c.layer.attention_chunk = 64;
    const auto backend = make();
    Fixture fixture(c, *device_);
    conformance::expect_agreement(*backend, c, {Fill::kNeedle, Fill::kNormal}, *device_, fixture);
  }
}

TEST_F(PagedFaGpu, says_why_it_cannot) {
  const PagedFaBackend backend;
  EXPECT_NE(backend.supports(problem_of(small_mla())).reason().find("mla"), std::string::npos);
  EXPECT_NE(backend.supports(problem_of(small_plain_decode())).reason().find("f32"),
            std::string::npos);
  EXPECT_NE(backend.supports(problem_of(small_draft_extend())).reason().find("ALiBi"),
            std::string::npos);
  EXPECT_NE(backend.supports(problem_of(extend(1, 1, 88, 88, 1))).reason().find("head dims"),
            std::string::npos);
}

}  // namespace
}  // namespace attnbench::paged_fa
