// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/splitkv.h"

#include <cmath>
#include <optional>

#include "backends/testing/conformance.h"
#include "backends/testing/graph_conformance.cuh"
#include "backends/testing/list_conformance.h"
#include "backends/wrappers/wrappers.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::splitkv {
namespace {

class SplitKvGpu : public GpuTest {};

template <SplitRule rule>
std::unique_ptr<Backend> make() {
  return with_item_passes(std::make_unique<SplitKvBackend>(rule), ItemKeys::kBySlot,
                          merge_states_on_gpu);
}

constexpr SplitRule kRules[] = {
    SplitRule::kFill, SplitRule::kDynamic, SplitRule::kFixedTile, {SplitRule::kPieces, 4}};

/// Contexts long enough to be split, with ragged ends.
Case long_case(const Case& small) {
  Case c = small;
  c.id = small.mix + "/long";
  for (Request& request : c.requests) request.kv_len += 1100;
  return c;
}

/// Decode with `group` query heads per KV head, ragged lengths around tiles, rounds and splits.
Case decode(int heads_kv, int group, int dk, int dv) {
  Case c = small_fp8();
  c.id = "decode/" + std::to_string(group) + "x" + std::to_string(dk);
  c.kv_cache.dtype = DType::kBF16;
  c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  c.kv_cache.page_size = 16;
  c.layer.heads_kv = heads_kv;
  c.layer.heads_q = heads_kv * group;
  c.layer.head_dim_qk = dk;
  c.layer.head_dim_v = dv;
  c.layer.scale = 1 / std::sqrt(static_cast<double>(dk));
  c.prefixes.clear();
  c.requests.clear();
  for (const std::int64_t len : {1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 513, 1000, 2049}) {
    Request request;
    request.group = "decode";
    request.kv_len = len;
    c.requests.push_back(request);
  }
  return c;
}

void expect_agreement(Backend& backend, const Case& c, Device& device,
                      std::initializer_list<Fill> fills) {
  ASSERT_TRUE(backend.supports(problem_of(c)))
      << c.id << ": " << backend.supports(problem_of(c)).reason();
  Fixture fixture(c, device);
  conformance::expect_agreement(backend, c, fills, device, fixture);
}

TEST_F(SplitKvGpu, conforms) { conformance::expect_all(make<SplitRule::kFill>, *device_); }

TEST_F(SplitKvGpu, gives_the_same_bits_beside_rows_of_no_request) {
  conformance::expect_token_rows_change_nothing(make<SplitRule::kFill>, *device_);
}

TEST_F(SplitKvGpu, reads_pages_beyond_2_32_elements) {
  conformance::expect_big_offsets(make<SplitRule::kFill>, *device_);
}

TEST_F(SplitKvGpu, repeats_other_batches_from_a_graph_under_every_rule) {
  conformance::expect_graph_replay(make<SplitRule::kFill>, *device_);
  conformance::expect_graph_replay(make<SplitRule::kDynamic>, *device_);
  conformance::expect_graph_replay(make<SplitRule::kFixedTile>, *device_);
  conformance::expect_graph_replay(make<SplitRule(SplitRule::kPieces, 4)>, *device_);
}

TEST_F(SplitKvGpu, agrees_with_the_reference_under_every_rule_where_contexts_are_split) {
  for (const Case& small : {small_prefix_hits(), small_tree_verify(), small_sliding_window(),
                            small_fp8(), small_cross(), small_draft_extend()}) {
    for (const SplitRule rule : kRules) {
      SplitKvBackend backend(rule);
      expect_agreement(backend, long_case(small), *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

TEST_F(SplitKvGpu, reads_scales_of_heads_and_requests_and_stores_fp8_where_contexts_are_split) {
  for (const SplitRule rule : kRules) {
    for (const KvScales scales : {KvScales::kHead, KvScales::kRequest}) {
      for (const std::optional<DType> out : {std::optional<DType>(), {DType::kE4M3}}) {
        Case c = decode(2, 4, 128, 128);
        c.id += "/" + std::string(to_string(scales)) + (out ? "/e4m3" : "");
        c.kv_cache.dtype = DType::kE4M3;
        c.kv_cache.scales = scales;
        c.fp8.out = out;
        if (out) c.out_scale = 0.04f;
        SplitKvBackend backend(rule);
        expect_agreement(backend, c, *device_, {Fill::kTag, Fill::kNormal, Fill::kExtreme});
      }
    }
  }
}

TEST_F(SplitKvGpu, agrees_with_the_reference_for_every_head_dim_and_kv_type) {
  const int dims[][2] = {{64, 64}, {96, 96}, {128, 128}, {192, 128}, {256, 256}};
  for (const auto& [dk, dv] : dims) {
    for (const DType kv : {DType::kBF16, DType::kE4M3, DType::kE5M2}) {
      Case c = decode(2, 4, dk, dv);
      c.kv_cache.dtype = kv;
      if (size_bytes(kv) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      SplitKvBackend backend;
      expect_agreement(backend, c, *device_, {Fill::kTag, Fill::kNormal});
      // The same cache behind a few new tokens each: tiles of 16 rows. Behind more: of 64 rows, cut
      // for this backend's own rule, whole for the others.
      c.mode = ForwardMode::kExtend;
      c.dtype = DType::kF16;
      if (kv == DType::kBF16) c.kv_cache.dtype = DType::kF16;
      for (const std::int64_t q_len : {21, 64}) {
        for (Request& request : c.requests) request.q_len = std::min(request.kv_len, q_len);
        expect_agreement(backend, c, *device_, {Fill::kTag, Fill::kNormal});
      }
      SplitKvBackend uncut(SplitRule::kDynamic);
      expect_agreement(uncut, c, *device_, {Fill::kNormal});
    }
  }
}

TEST_F(SplitKvGpu, takes_any_group_of_query_heads) {
  for (const int group : {1, 2, 3, 7, 8, 16, 17, 64}) {
    SplitKvBackend backend;
    expect_agreement(backend, decode(2, group, 64, 64), *device_, {Fill::kTag, Fill::kNormal});
  }
}

TEST_F(SplitKvGpu, knows_each_meaning_of_a_window_and_alibi_s_slopes) {
  for (const std::vector<Case>& cases : {small_windows(), small_temperatures(), small_slopes()}) {
    for (const Case& c : cases) {
      if (c.dtype == DType::kF32) continue;
      SplitKvBackend backend;
      expect_agreement(backend, c, *device_, {Fill::kNormal});
    }
  }
}

TEST_F(SplitKvGpu, sees_the_own_chunk_and_warms_late_logits_where_contexts_are_split) {
  for (const Case& small : {small_prefix_hits(), small_chunked_mixed(), small_tree_verify()}) {
    for (const std::int64_t chunk : {100, 1000, 2048}) {
      Case c = long_case(small);
      c.layer.attention_chunk = chunk;
      for (const std::int64_t temperature_len : {0, 256}) {
        c.layer.temperature_len = temperature_len;
        SplitKvBackend backend;
        expect_agreement(backend, c, *device_, {Fill::kNeedle, Fill::kNormal});
      }
    }
  }
}

TEST_F(SplitKvGpu, meets_keys_in_the_form_of_the_query_that_their_dual_chunk_asks_for) {
  for (const Case& c : small_dual_chunks()) {
    if (c.dtype == DType::kF32) continue;
    SplitKvBackend backend;
    expect_agreement(backend, c, *device_, {Fill::kNeedle, Fill::kSparseInt, Fill::kNormal});
  }
  for (const Case& small :
       {small_prefix_hits(), small_chunked_mixed(), small_fp8(), small_dual_chunks().back()}) {
    for (const DualChunk dual : {DualChunk{100, 7}, DualChunk{1024, 24}, DualChunk{8192, 1024}}) {
      Case c = long_case(small);
      c.layer.dual_chunk = dual;
      SplitKvBackend backend;
      expect_agreement(backend, c, *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

/// By token and by unit, of all heads and of each KV head; shorter than a piece and longer.
const Selection kSelections[] = {
    {.topk = 100, .padding = SelectionPadding::kRepeat},
    {.topk = 2048, .pattern = SelectionPattern::kShared},
    {.topk = 7,
     .unit = 16,
     .groups = SelectionGroups::kKvHeads,
     .padding = SelectionPadding::kFront},
    {.topk = 900, .groups = SelectionGroups::kKvHeads, .padding = SelectionPadding::kFront},
    {.topk = 9, .unit = 128, .groups = SelectionGroups::kKvHeads}};

TEST_F(SplitKvGpu, reads_lists_of_chosen_keys_for_every_head_dim_and_kv_type) {
  const int dims[][2] = {{64, 64}, {96, 96}, {128, 128}, {192, 128}, {256, 256}};
  for (const auto& [dk, dv] : dims) {
    for (const DType kv : {DType::kBF16, DType::kE4M3, DType::kE5M2}) {
      for (const Selection& selection : kSelections) {
        Case c = with_selection(decode(2, 4, dk, dv), selection);
        c.id += "/" + std::string(to_string(kv));
        c.kv_cache.dtype = kv;
        if (size_bytes(kv) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
        SplitKvBackend backend;
        expect_agreement(backend, c, *device_, {Fill::kNeedle, Fill::kNormal});
      }
    }
  }
}

TEST_F(SplitKvGpu, reads_lists_of_several_tokens_under_every_rule) {
  SplitKvBackend fill, dynamic(SplitRule::kDynamic), fixed(SplitRule::kFixedTile);
  for (const Selection& selection : kSelections) {
    for (const int group : {1, 4, 17, 64}) {
      Case c = with_selection(decode(2, group, 128, 128), selection);
      c.id += "/" + std::to_string(group);
      c.mode = ForwardMode::kExtend;
      std::erase_if(c.requests, [](const Request& request) { return request.kv_len > 1000; });
      for (Request& request : c.requests) request.q_len = std::min<std::int64_t>(request.kv_len, 5);
      Fixture fixture(c, *device_);
      conformance::expect_agreement({&fill, &dynamic, &fixed}, c, {Fill::kNormal}, *device_,
                                    fixture);
    }
  }
}

TEST_F(SplitKvGpu, of_lists_leaves_the_sink_out_of_the_lse_where_they_are_split_and_whole) {
  for (const Selection& selection : kSelections) {
    Case c = with_selection(decode(2, 4, 128, 128), selection);
    c.layer.has_sinks = true;
    c.layer.logit_cap = 5;
    c.layer.temperature_len = 200;
    for (const std::int64_t kv_len : {60, 5000}) {
      c.requests.resize(2);
      for (Request& request : c.requests) request.kv_len += kv_len;
      SplitKvBackend backend;
      expect_agreement(backend, c, *device_, {Fill::kNeedle, Fill::kNormal});
    }
  }
}

TEST_F(SplitKvGpu, leaves_out_entries_of_a_list_that_do_not_count) {
  conformance::expect_missing_entries_change_nothing(make<SplitRule::kFill>, *device_);
  conformance::expect_empty_lists_to_give_zeros(make<SplitRule::kFill>, *device_);
}

TEST_F(SplitKvGpu, of_lists_gives_the_same_bits_every_time_and_on_other_pages) {
  for (const Selection& selection : kSelections) {
    Case c = with_selection(decode(2, 4, 128, 128), selection);
    Fixture here(c, *device_), there(c, *device_, 99);
    here.fill(Fill::kNormal);
    there.fill(Fill::kNormal);
    SplitKvBackend backend;
    const conformance::Outputs first = conformance::forward(backend, here, *device_, 0xff);
    EXPECT_TRUE(first == conformance::forward(backend, here, *device_, 0x7f)) << c.id;
    EXPECT_TRUE(first == conformance::forward(backend, there, *device_)) << c.id;
  }
}

TEST_F(SplitKvGpu, of_dual_chunks_gives_a_request_the_same_bits_alone_and_in_a_batch) {
  Case c = decode(4, 4, 128, 128);
  c.layer.dual_chunk = {100, 28};
  conformance::expect_batch_invariance(make<SplitRule::kFixedTile>, c, *device_);
}

TEST_F(SplitKvGpu, gives_a_request_the_same_bits_alone_and_in_a_batch_under_fixed_tiles) {
  conformance::expect_batch_invariance(make<SplitRule::kFixedTile>, decode(2, 4, 128, 128),
                                       *device_);
  for (const Case& small : all_small_cases()) {
    conformance::expect_batch_invariance(make<SplitRule::kFixedTile>, long_case(small), *device_);
  }
}

TEST_F(SplitKvGpu, gives_a_request_the_same_bits_under_fixed_tiles_of_another_size) {
  conformance::expect_batch_invariance(make<SplitRule(SplitRule::kFixedTile, 128)>,
                                       long_case(decode(2, 4, 128, 128)), *device_);
}

TEST_F(SplitKvGpu, says_why_it_cannot) {
  const SplitKvBackend backend;
  EXPECT_NE(backend.supports(problem_of(small_mla())).reason().find("mla"), std::string::npos);
  EXPECT_NE(backend.supports(problem_of(small_plain_decode())).reason().find("f32"),
            std::string::npos);
  EXPECT_NE(backend.supports(problem_of(decode(1, 1, 80, 80))).reason().find("head dims"),
            std::string::npos);
}

}  // namespace
}  // namespace attnbench::splitkv
