// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/mla.h"

#include <numeric>

#include "backends/common/kernel_support.h"
#include "backends/testing/conformance.h"
#include "backends/testing/graph_conformance.cuh"
#include "backends/testing/list_conformance.h"
#include "backends/wrappers/wrappers.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::mla {
namespace {

class MlaGpu : public GpuTest {
 protected:
  /// With every kernel that this GPU has for the case.
  void expect_agreement(const Case& c) {
    const auto fills = {Fill::kTag, Fill::kNeedle, Fill::kNormal};
    Fixture fixture(c, *device_);
    MlaBackend hopper(true), before(false);
    ASSERT_TRUE(hopper.supports(problem_of(c))) << hopper.supports(problem_of(c)).reason();
    if (c.kv_cache.scales == KvScales::kBlock || c.layer.head_dim_qk == c.layer.head_dim_v) {
      conformance::expect_agreement(hopper, c, fills, *device_, fixture);
      return;
    }
    ASSERT_TRUE(before.supports(problem_of(c))) << before.supports(problem_of(c)).reason();
    conformance::expect_agreement({&hopper, &before}, c, fills, *device_, fixture);
  }
};

/// Lengths around tiles, pages and splits.
Case decode(int heads, std::int64_t page_size, DType kv = DType::kBF16) {
  Case c = small_mla();
  c.id = "mla/h" + std::to_string(heads) + ",ps" + std::to_string(page_size);
  c.layer.heads_q = heads;
  c.kv_cache.page_size = page_size;
  c.kv_cache.dtype = kv;
  if (size_bytes(kv) == 1) c.kv_cache.k_scale = c.kv_cache.v_scale = 0.37f;
  c.requests.clear();
  for (const std::int64_t len : {1, 31, 32, 33, 64, 65, 255, 257, 513, 1000, 2049}) {
    Request request;
    request.group = "decode";
    request.kv_len = len;
    c.requests.push_back(request);
  }
  return c;
}

/// Many rows of every request: q tokens of 16 heads. The reference makes 35 MFLOP of a token's rows
/// for 1000 keys, so that many tokens come without the longest requests.
Case extend(std::int64_t q_len) {
  Case c = decode(16, 64);
  c.mode = ForwardMode::kExtend;
  if (q_len > 9)
    std::erase_if(c.requests, [](const Request& request) { return request.kv_len > 600; });
  for (Request& request : c.requests) request.q_len = std::min(request.kv_len, q_len);
  return c;
}

std::unique_ptr<Backend> scoring_items(bool warpgroups) {
  return with_item_passes(std::make_unique<MlaBackend>(warpgroups), ItemKeys::kInPages,
                          merge_states_on_gpu);
}

/// Draft trees behind prefixes that are `more` tokens longer than small_tree_verify()'s.
Case trees(std::int64_t more) {
  Case c = small_tree_verify();
  c.id = "mla/trees+" + std::to_string(more);
  c.layer = small_mla().layer;
  c.kv_cache = small_mla().kv_cache;
  c.prefixes.clear();
  for (Request& request : c.requests) {
    request.shared_prefix = -1;
    request.shared_len = 0;
    request.kv_len += more;
  }
  return c;
}

/// Few requests, so long that their keys are split: the first into more pieces than a warp has
/// lanes.
Case split(int heads) {
  Case c = decode(heads, 64);
  c.requests.resize(2);
  c.requests[0].kv_len = 12345;
  c.requests[1].kv_len = 2000;
  return c;
}

TEST_F(MlaGpu, reads_the_scales_of_requests) {
  for (Case c : {decode(16, 64, DType::kE4M3), decode(128, 1, DType::kE5M2), split(128)}) {
    c.id += "/by_request";
    if (size_bytes(c.kv_cache.dtype) != 1) c.kv_cache.dtype = DType::kE4M3;
    c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
    c.kv_cache.scales = KvScales::kRequest;
    EXPECT_FALSE(MlaBackend().formats(problem_of(c)).empty());
    expect_agreement(c);
  }
}

TEST_F(MlaGpu, rounds_outputs_in_fp8_once_in_every_kernel) {
  for (Case c : {decode(16, 64), decode(128, 64), decode(16, 64, DType::kE4M3), extend(7),
                 extend(40), split(16), split(128), trees(300)}) {
    for (const DType out : {DType::kE4M3, DType::kE5M2}) {
      c.fp8.out = out;
      c.out_scale = 0.07f;
      expect_agreement(c);
    }
  }
}

TEST_F(MlaGpu, conforms) {
  conformance::expect_all([] { return scoring_items(true); }, *device_);
}

TEST_F(MlaGpu, reads_pages_beyond_2_32_elements) {
  for (const bool warpgroups : {true, false}) {
    conformance::expect_big_offsets([=] { return std::make_unique<MlaBackend>(warpgroups); },
                                    *device_);
  }
}

TEST_F(MlaGpu, gives_the_same_bits_beside_rows_of_no_request) {
  for (const bool warpgroups : {true, false}) {
    conformance::expect_token_rows_change_nothing(
        [=] { return std::make_unique<MlaBackend>(warpgroups); }, *device_);
  }
}

TEST_F(MlaGpu, conforms_without_warpgroups) {
  conformance::expect_all([] { return scoring_items(false); }, *device_);
}

TEST_F(MlaGpu, repeats_other_batches_from_a_graph) {
  conformance::expect_graph_replay([] { return std::make_unique<MlaBackend>(); }, *device_);
}

TEST_F(MlaGpu, repeats_other_batches_from_a_graph_without_warpgroups) {
  conformance::expect_graph_replay([] { return std::make_unique<MlaBackend>(false); }, *device_);
}

TEST_F(MlaGpu, agrees_with_the_reference_for_any_number_of_heads) {
  for (const int heads : {1, 8, 16, 17, 64, 65, 128}) expect_agreement(decode(heads, 64));
}

TEST_F(MlaGpu, agrees_with_the_reference_on_any_page_size_and_kv_type) {
  for (const std::int64_t page_size : {1, 16, 32, 64, 128}) {
    expect_agreement(decode(16, page_size));
    expect_agreement(decode(128, page_size));
  }
  for (const DType kv : {DType::kE4M3, DType::kE5M2}) {
    expect_agreement(decode(16, 64, kv));
    expect_agreement(decode(128, 64, kv));
  }
  for (const int heads : {16, 128}) {
    Case c = decode(heads, 64, DType::kF16);
    c.dtype = DType::kF16;
    expect_agreement(c);
  }
}

TEST_F(MlaGpu, widens_latents_in_fp8_and_those_with_scales_inside) {
  const auto stored = [](Case c, DType dtype, KvScales scales) {
    c.id += "/" + std::string(to_string(dtype)) + std::string(to_string(scales));
    c.kv_cache.dtype = dtype;
    c.kv_cache.scales = scales;
    c.kv_cache.k_scale = c.kv_cache.v_scale = scales == KvScales::kBlock ? 1.0f : 0.37f;
    return c;
  };
  for (const auto& [dtype, scales] : {std::pair{DType::kE4M3, KvScales::kTensor},
                                      {DType::kE5M2, KvScales::kTensor},
                                      {DType::kE4M3, KvScales::kBlock}}) {
    if (!kAllKernels && dtype == DType::kE5M2) continue;
    for (const int heads : {1, 8, 16, 65, 128}) {
      for (const std::int64_t page_size : {1, 64}) {
        expect_agreement(stored(decode(heads, page_size), dtype, scales));
      }
      expect_agreement(stored(split(heads), dtype, scales));
    }
    expect_agreement(stored(extend(70), dtype, scales));
    Case two_tokens = extend(2);
    two_tokens.layer.heads_q = 8;
    two_tokens.layer.has_sinks = true;
    expect_agreement(stored(two_tokens, dtype, scales));
    two_tokens.layer.sliding_window_size = 100;
    two_tokens.layer.logit_cap = 30;
    expect_agreement(stored(two_tokens, dtype, scales));
    expect_agreement(stored(trees(0), dtype, scales));
    expect_agreement(stored(trees(2000), dtype, scales));
  }
}

TEST_F(MlaGpu, reads_rows_with_scales_inside_by_wgmma_alone) {
  Case c = decode(16, 64, DType::kE4M3);
  c.kv_cache.scales = KvScales::kBlock;
  const Support support = MlaBackend(false).supports(problem_of(c));
  EXPECT_NE(support.reason().find("fp8_ds_mla by the kernel with wgmma only"), std::string::npos);
}

TEST_F(MlaGpu, extends_causally_and_inside_a_window) {
  for (const std::int64_t q_len : {9, 70}) {
    Case c = extend(q_len);
    expect_agreement(c);
    c.layer.sliding_window_size = 100;
    c.layer.logit_cap = 30;
    expect_agreement(c);
    c.layer.causal = false;  // as far ahead as back
    expect_agreement(c);
  }
}

TEST_F(MlaGpu, shows_a_block_to_its_queries) {
  for (const std::int64_t q_len : {9, 70}) {
    Case c = extend(q_len);
    c.mode = ForwardMode::kDllmExtend;
    for (const std::int64_t block : {4, 32, 70}) {
      c.layer.causal_block = block;
      expect_agreement(c);
    }
  }
}

TEST_F(MlaGpu, checks_draft_trees) {
  for (const std::int64_t more : {0, 60, 122, 3000}) {
    Case c = trees(more);
    expect_agreement(c);
    c.layer.sliding_window_size = 20;
    expect_agreement(c);
    c.layer.window_in_trees = WindowInTrees::kDepth;
    expect_agreement(c);
  }
}

TEST_F(MlaGpu, merges_split_keys_and_sinks) {
  for (const int heads : {16, 40, 64, 128}) {
    Case c = split(heads);
    expect_agreement(c);
    c.layer.has_sinks = true;
    expect_agreement(c);
    c.requests.erase(c.requests.begin());  // sinks where nothing is merged
    c.requests[0].kv_len = 100;
    expect_agreement(c);
  }
}

TEST_F(MlaGpu, follows_logits_that_keep_rising) {
  // The scale makes single keys dominate: the weights' reference is raised again and again.
  for (const double scale : {0.2, 0.6}) {
    for (Case c : {decode(128, 64), decode(16, 64, DType::kE4M3)}) {
      c.layer.scale = scale;
      MlaBackend backend;
      Fixture fixture(c, *device_);
      conformance::expect_agreement(backend, c, {Fill::kNormal, Fill::kExtreme}, *device_, fixture);
    }
  }
}

/// Shorter than a tile of keys, and longer than many; by token and by unit.
const Selection kSelections[] = {{.topk = 20, .padding = SelectionPadding::kRepeat},
                                 {.topk = 2048, .pattern = SelectionPattern::kShared},
                                 {.topk = 500, .padding = SelectionPadding::kFront},
                                 {.topk = 3, .unit = 64, .groups = SelectionGroups::kKvHeads}};

TEST_F(MlaGpu, reads_rows_without_rope_columns) {
  for (Case c : {decode(16, 64), decode(128, 1), extend(7), extend(40), split(16), split(128),
                 trees(300), with_selection(decode(128, 64), kSelections[1])}) {
    c.id += "/no_rope";
    c.layer.head_dim_qk = c.layer.head_dim_v;
    expect_agreement(c);
  }
  Case narrow = decode(16, 64, DType::kE4M3);
  narrow.layer.head_dim_qk = narrow.layer.head_dim_v;
  EXPECT_THAT(MlaBackend().supports(problem_of(narrow)).reason(), testing::HasSubstr("16-bit"));
}

TEST_F(MlaGpu, reads_lists_of_chosen_keys) {
  for (const Selection& selection : kSelections) {
    for (const int heads : {1, 16, 17, 128}) {
      for (const std::int64_t page_size : {1, 64}) {
        expect_agreement(with_selection(decode(heads, page_size), selection));
      }
      expect_agreement(with_selection(split(heads), selection));
    }
    expect_agreement(with_selection(extend(7), selection));
    expect_agreement(with_selection(extend(40), selection));
  }
}

TEST_F(MlaGpu, reads_lists_of_latents_in_fp8_and_of_those_with_scales_inside) {
  for (const KvScales scales : {KvScales::kTensor, KvScales::kRequest, KvScales::kBlock}) {
    for (const Selection& selection : {kSelections[0], kSelections[1]}) {
      for (Case c : {decode(16, 64), decode(128, 64), split(16), split(128), extend(7)}) {
        c.id += "/" + std::string(to_string(scales));
        c.kv_cache.dtype = DType::kE4M3;
        c.kv_cache.scales = scales;
        c.kv_cache.k_scale = c.kv_cache.v_scale = scales == KvScales::kTensor ? 0.37f : 1.0f;
        expect_agreement(with_selection(c, selection));
      }
    }
  }
}

TEST_F(MlaGpu, of_lists_leaves_the_sink_out_of_the_lse) {
  for (const Selection& selection : kSelections) {
    for (Case c :
         {decode(16, 64), decode(128, 64), split(16), split(128), decode(16, 64, DType::kE4M3)}) {
      c.layer.has_sinks = true;
      c.layer.logit_cap = 30;
      expect_agreement(with_selection(c, selection));
    }
  }
}

/// DeepSeek-V4's rows in 512 columns, all of them K and V.
Case compressed(Case c, std::int64_t ratio, const Selection& selection = {}) {
  c.id += "/rows_of_" + std::to_string(ratio) + "_topk_" + std::to_string(selection.topk);
  c.layer.head_dim_qk = c.layer.head_dim_v;
  c.layer.compress_ratio = ratio;
  c.layer.sliding_window_size = 127;
  c.layer.has_sinks = true;
  if (!selection.exists()) return c;
  c = with_selection(std::move(c), selection);
  c.layer.selection.unit = ratio;
  c.layer.selection.compressed = true;
  return c;
}

TEST_F(MlaGpu, reads_compressed_rows_beside_a_window) {
  Case chain = trees(300);
  for (Request& request : chain.requests) {
    std::iota(request.tree_parents.begin(), request.tree_parents.end(), -1);
  }
  for (const Case& c : {decode(8, 64), decode(64, 64), decode(128, 1), extend(7), extend(40),
                        split(16), split(128), chain}) {
    expect_agreement(compressed(c, 128));
    expect_agreement(compressed(c, 4));
    expect_agreement(compressed(c, 4, {.topk = 512, .pattern = SelectionPattern::kShared}));
    expect_agreement(compressed(c, 3, {.topk = 9, .pattern = SelectionPattern::kHoles}));
  }
  Case own_pool = compressed(split(64), 128), no_window = compressed(decode(16, 16), 5);
  own_pool.kv_cache.swa_pool = true;
  expect_agreement(own_pool);
  no_window.layer.sliding_window_size = -1;
  expect_agreement(no_window);
  Case with_rope = compressed(decode(16, 64), 4, {.topk = 64});
  with_rope.layer.head_dim_qk = small_mla().layer.head_dim_qk;
  expect_agreement(with_rope);
}

TEST_F(MlaGpu, leaves_out_entries_of_a_list_that_do_not_count) {
  for (const bool warpgroups : {true, false}) {
    const auto make = [=] { return std::make_unique<MlaBackend>(warpgroups); };
    conformance::expect_missing_entries_change_nothing(make, *device_);
    conformance::expect_empty_lists_to_give_zeros(make, *device_);
  }
}

TEST_F(MlaGpu, gives_the_same_bits_every_time_and_on_other_pages) {
  for (const Case& c :
       {decode(128, 64), decode(64, 16), decode(16, 64), extend(9), trees(3000), split(16),
        split(128), decode(16, 64, DType::kE4M3), with_selection(decode(128, 64), kSelections[1]),
        with_selection(split(16), kSelections[1])}) {
    SCOPED_TRACE(c.id);
    Fixture here(c, *device_), there(c, *device_, 99);
    here.fill(Fill::kNormal);
    there.fill(Fill::kNormal);
    for (const bool warpgroups : {true, false}) {
      MlaBackend backend(warpgroups);
      const conformance::Outputs first = conformance::forward(backend, here, *device_, 0xff);
      for (int again = 0; again < 3; ++again) {
        EXPECT_TRUE(first == conformance::forward(backend, here, *device_, 0x7f));
      }
      EXPECT_TRUE(first == conformance::forward(backend, there, *device_));
    }
  }
}

TEST_F(MlaGpu, says_why_it_cannot) {
  EXPECT_FALSE(MlaBackend().supports(problem_of(small_prefix_hits())));
  EXPECT_FALSE(MlaBackend().supports(problem_of(decode(16, 48))));
}

}  // namespace
}  // namespace attnbench::mla
