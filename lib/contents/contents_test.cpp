// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/contents.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

Case two_sharing_requests() {
  Case c;
  c.seed = 7;
  c.layer = {.heads_q = 4, .heads_kv = 2, .head_dim_qk = 64, .head_dim_v = 64, .scale = 0.125};
  c.kv_cache.page_size = 16;
  c.prefixes = {{"system", 32}};
  c.requests = {{.q_len = 1, .kv_len = 40, .shared_prefix = 0, .shared_len = 32},
                {.q_len = 4, .kv_len = 50, .shared_prefix = 0, .shared_len = 32}};
  return c;
}

using Row = std::array<float, 64>;

Row k_of(const Contents& contents, std::int64_t request, std::int64_t position, int head) {
  Row row{};
  contents.k_row(request, position, head, row);
  return row;
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d)
    sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

TEST(Contents, requests_agree_inside_their_shared_prefix_and_nowhere_else) {
  const Case c = two_sharing_requests();
  const Contents contents(c, Fill::kNormal);
  EXPECT_EQ(k_of(contents, 0, 31, 1), k_of(contents, 1, 31, 1));
  EXPECT_NE(k_of(contents, 0, 32, 1), k_of(contents, 1, 32, 1));
}

TEST(Contents, a_token_of_a_prefix_is_the_same_in_all_that_extend_it) {
  Case c = two_sharing_requests();
  c.prefixes = {{"system", 20}, {"tools", 32, 0}, {"plain", 32, 0}};
  c.requests[0].shared_prefix = 1;
  c.requests[1].shared_prefix = 2;
  Case alone = c;
  alone.requests = {{.kv_len = 40, .shared_prefix = 0, .shared_len = 20}};
  for (const Fill fill : {Fill::kNeedle, Fill::kExtreme, Fill::kNormal}) {
    const Contents branches(c, fill), root(alone, fill);
    for (const std::int64_t position : {0, 15, 16, 19}) {
      EXPECT_EQ(k_of(branches, 0, position, 1), k_of(branches, 1, position, 1)) << to_string(fill);
      EXPECT_EQ(k_of(branches, 0, position, 1), k_of(root, 0, position, 1)) << to_string(fill);
    }
  }
  const Contents branches(c, Fill::kNormal), root(alone, Fill::kNormal);
  EXPECT_NE(k_of(branches, 0, 20, 1), k_of(branches, 1, 20, 1));
  EXPECT_NE(k_of(branches, 0, 20, 1), k_of(root, 0, 20, 1));
}

TEST(Contents, plants_needles_at_the_ends_of_each_prefix_of_a_branch) {
  Case c = two_sharing_requests();
  c.prefixes = {{"system", 20}, {"tools", 32, 0}};
  c.requests[0].shared_prefix = 1;
  const Contents contents(c, Fill::kNeedle);
  for (const std::int64_t position : {0, 19, 20, 31}) {
    EXPECT_TRUE(contents.source_of(0, position).planted) << position;
  }
  EXPECT_FALSE(contents.source_of(0, 21).planted);
}

TEST(Contents, a_request_taken_out_of_its_batch_keeps_its_contents) {
  const Case c = two_sharing_requests();
  Case alone = c;
  alone.requests = {c.requests[1]};
  alone.requests[0].stream = 1;
  for (const Fill fill : {Fill::kNeedle, Fill::kExtreme, Fill::kNormal}) {
    const Contents in_batch(c, fill), single(alone, fill);
    for (const std::int64_t position : {0, 31, 32, 45, 49}) {
      EXPECT_EQ(k_of(in_batch, 1, position, 0), k_of(single, 0, position, 0)) << to_string(fill);
    }
  }
}

TEST(Contents, values_are_what_the_storage_type_can_hold) {
  Case c = two_sharing_requests();
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.5f;
  for (const float value : k_of(Contents(c, Fill::kNormal), 0, 5, 0)) {
    EXPECT_EQ(value, rounded(DType::kE4M3, value));
  }
}

TEST(Contents, sinks_are_numbers_of_bf16_that_differ_by_head_and_not_by_fill) {
  Case c;
  c.layer = {.heads_q = 8, .heads_kv = 2, .head_dim_qk = 64, .head_dim_v = 64, .has_sinks = true};
  const Contents contents(c, Fill::kNormal);
  for (int head = 0; head < 8; ++head) {
    EXPECT_EQ(rounded(DType::kBF16, contents.sink(head)), contents.sink(head));
    EXPECT_NE(contents.sink(head), contents.sink((head + 1) % 8));
    EXPECT_EQ(contents.sink(head), Contents(c, Fill::kNeedle).sink(head));
    EXPECT_EQ(contents.sink(head), Contents(c, 5).sink(head)) << "in timed samples";
  }
}

TEST(Contents, queries_in_fp8_stand_for_nearly_the_numbers_of_others) {
  Case c = two_sharing_requests();
  Row exact{}, stored{};
  Contents(c, Fill::kNormal).q_row(1, 0, 3, exact);
  c.fp8.q = DType::kE4M3;
  for (const QScales scales :
       {QScales::kTensor, QScales::kRequest, QScales::kHead, QScales::kToken}) {
    c.fp8.q_scales = scales;
    c.q_scale = scales == QScales::kTensor ? 0.37f : 1;
    const Contents contents(c, Fill::kNormal);
    contents.q_row(1, 0, 3, stored);
    const float scale = contents.q_scale(1, 0, 3);
    for (std::size_t d = 0; d < stored.size(); ++d) {
      EXPECT_EQ(stored[d], rounded(DType::kE4M3, stored[d]));
      EXPECT_NEAR(stored[d] * scale, exact[d], 0x1p-4f * std::fabs(exact[d]) + 0.01f);
    }
    EXPECT_EQ(Contents(c, 5).q_scale(1, 0, 3), scale) << "the same in timed samples";
  }
}

TEST(Contents, scales_of_queries_are_as_many_as_what_shares_one) {
  Case c = two_sharing_requests();
  c.fp8.q = DType::kE4M3;
  // Of two requests with three tokens each in four heads, two of which share a KV head.
  const auto of = [&](QScales scales) {
    c.fp8.q_scales = scales;
    const Contents contents(c, Fill::kNormal);
    std::vector<float> all;
    for (const std::int64_t request : {0, 1}) {
      for (const std::int64_t token : {0, 1, 2}) {
        for (const int head : {0, 1, 2, 3}) {
          all.push_back(contents.q_scale(request, token, head));
        }
      }
    }
    return all;
  };
  const std::vector<float> head = of(QScales::kHead), token = of(QScales::kToken);
  for (std::size_t i = 0; i < head.size(); ++i) {
    EXPECT_EQ(head[i], head[i % 4 / 2 * 2]) << "whatever the request and the token";
  }
  EXPECT_NE(head[0], head[2]);
  EXPECT_GE(std::set<float>(token.begin(), token.end()).size(), 8u);
  EXPECT_FALSE(std::equal(token.begin(), token.begin() + 4, token.begin() + 4)) << "by token";
  EXPECT_FALSE(std::equal(token.begin(), token.begin() + 12, token.begin() + 12)) << "by request";
  EXPECT_NE(token[0], token[1]) << "by query head";
  for (const float scale : token) EXPECT_EQ(rounded(DType::kBF16, scale), scale);
}

TEST(Contents, scales_of_requests_follow_a_request_out_of_its_batch) {
  Case c = two_sharing_requests();
  for (Request& request : c.requests) request.shared_prefix = -1, request.shared_len = 0;
  c.kv_cache.dtype = DType::kE4M3;
  c.fp8.q = DType::kE4M3;
  c.kv_cache.scales = KvScales::kRequest;
  c.fp8.q_scales = QScales::kRequest;
  Case alone = c;
  alone.requests = {c.requests[1]};
  alone.requests[0].stream = 1;
  const Contents batch(c, Fill::kNormal), single(alone, Fill::kTag);
  std::set<float> scales;
  for (const int head : {0, 1}) {
    EXPECT_EQ(batch.k_scale(1, 5, head).all, single.k_scale(0, 5, head).all);
    EXPECT_EQ(batch.q_scale(1, 0, 2 * head), single.q_scale(0, 0, 2 * head));
    EXPECT_EQ(batch.k_scale(1, 5, head).all, batch.k_scale(1, 30, head).all) << "of all its keys";
    EXPECT_EQ(batch.q_scale(1, 0, 2 * head), batch.q_scale(1, 0, 2 * head + 1)) << "by KV head";
    for (const std::int64_t request : {0, 1}) {
      for (const RowScale& scale :
           {batch.k_scale(request, 0, head), batch.v_scale(request, 0, head)}) {
        scales.insert(scale.all);
      }
      scales.insert(batch.q_scale(request, 0, 2 * head));
    }
  }
  EXPECT_GE(scales.size(), 4u);
}

TEST(Contents, a_needle_outweighs_a_128k_context_and_its_neighbours_do_not) {
  const Case c = two_sharing_requests();
  const Contents contents(c, Fill::kNeedle);
  Row q{};
  contents.q_row(0, 0, 3, q);  // query head 3 looks at KV head 1
  const auto logit = [&](std::int64_t position) {
    return c.layer.scale * dot(q, k_of(contents, 0, position, 1));
  };
  EXPECT_GT(logit(0), 10);
  EXPECT_GT(logit(39), 10);           // the last key
  EXPECT_GT(logit(15), 10);           // a page's end
  EXPECT_LT(std::fabs(logit(5)), 3);  // nothing planted here
  Row other_head{};
  contents.q_row(0, 0, 0, other_head);
  EXPECT_LT(std::fabs(c.layer.scale * dot(other_head, k_of(contents, 0, 39, 1))), 8);
}

TEST(Contents, plants_needles_on_both_sides_of_a_window_s_edge) {
  Case c;
  c.layer = {.heads_q = 1, .heads_kv = 1, .head_dim_qk = 64, .head_dim_v = 64, .scale = 0.125};
  c.layer.sliding_window_size = 100;
  c.requests = {{.q_len = 1, .kv_len = 1000}};
  const Contents contents(c, Fill::kNeedle);
  EXPECT_FALSE(contents.source_of(0, 897).planted);
  EXPECT_TRUE(contents.source_of(0, 898).planted) << "the first one that nobody sees";
  EXPECT_TRUE(contents.source_of(0, 899).planted);
  EXPECT_FALSE(contents.source_of(0, 900).planted);
}

TEST(Contents, keys_and_values_in_fp8_stand_for_nearly_the_numbers_of_others) {
  Case c = two_sharing_requests();
  const Contents plain(c, Fill::kNormal);
  Case narrow = c;
  narrow.kv_cache.dtype = DType::kE4M3;
  narrow.kv_cache.k_scale = 0.37f;
  narrow.kv_cache.v_scale = 0.011f;
  const Contents stored(narrow, Fill::kNormal);
  const auto expect_near_rows = [](const Row& number, const Row& of_fp8, float scale) {
    for (std::size_t d = 0; d < number.size(); ++d) {
      EXPECT_NEAR(of_fp8[d] * scale, number[d], std::fabs(number[d]) / 12 + scale * 0x1p-9f);
    }
  };
  Row value{}, stored_value{};
  for (const std::int64_t position : {3, 40}) {
    expect_near_rows(k_of(plain, 1, position, 1), k_of(stored, 1, position, 1), 0.37f);
    plain.v_row(1, position, 1, value);
    stored.v_row(1, position, 1, stored_value);
    expect_near_rows(value, stored_value, 0.011f);
  }
}

TEST(Contents, plants_needles_on_both_sides_of_a_chunk_s_edge) {
  Case c = two_sharing_requests();
  const auto logit = [&](std::int64_t position) {
    const Contents contents(c, Fill::kNeedle);
    Row q{};
    contents.q_row(0, 0, 3, q);
    return c.layer.scale * dot(q, k_of(contents, 0, position, 1));
  };
  EXPECT_LT(logit(35), 10);
  EXPECT_LT(logit(36), 10);
  c.layer.attention_chunk = 36;  // of 40 keys
  EXPECT_GT(logit(35), 10);
  EXPECT_GT(logit(36), 10);
}

TEST(Contents, plants_needles_on_both_sides_of_where_dual_chunks_begin) {
  Case c = two_sharing_requests();
  const auto is_planted = [&](std::int64_t position) {
    return Contents(c, Fill::kNeedle).source_of(0, position).planted;
  };
  for (const std::int64_t position : {35, 36}) EXPECT_FALSE(is_planted(position));
  c.layer.dual_chunk = {5, 2};  // 40 keys; the last one's chunk begins at 39, the one before at 36
  for (const std::int64_t position : {35, 36, 38, 39}) EXPECT_TRUE(is_planted(position));
}

TEST(Contents, a_query_of_dual_chunks_has_three_forms_that_a_needle_tells_apart) {
  Case c = two_sharing_requests();
  c.layer.dual_chunk = {8, 2};
  for (const Fill fill : {Fill::kNeedle, Fill::kSparseInt, Fill::kNormal, Fill::kTiming}) {
    const Contents contents(c, fill);
    std::vector<float> q(static_cast<std::size_t>(c.layer.query_dim()));
    contents.q_row(0, 0, 3, q);
    Row first{};
    contents.q_row(0, 0, 3, first);
    const auto form = [&](std::size_t n) {
      Row row{};
      std::copy_n(q.begin() + static_cast<std::ptrdiff_t>(n * row.size()), row.size(), row.begin());
      return row;
    };
    EXPECT_EQ(form(0), first);
    EXPECT_NE(form(0), form(1));
    EXPECT_NE(form(1), form(2));
    if (fill != Fill::kNeedle) continue;
    const Row needle = k_of(contents, 0, c.requests[0].kv_len - 1, 1);
    const auto logit = [&](std::size_t n) { return c.layer.scale * dot(form(n), needle); };
    EXPECT_GT(logit(0), logit(1) + 1);
    EXPECT_GT(logit(1), logit(2) + 1);
  }
}

TEST(Contents, extreme_logits_reach_88_with_the_sign_of_the_head) {
  const Case c = two_sharing_requests();
  const Contents contents(c, Fill::kExtreme);
  for (const int head : {0, 1}) {
    Row q{};
    contents.q_row(0, 0, 2 * head, q);
    double top = -1e9;
    for (std::int64_t position = 0; position < 40; ++position) {
      top = std::max(top, c.layer.scale * dot(q, k_of(contents, 0, position, head)));
    }
    EXPECT_NEAR(top, head == 0 ? 88 : -88, 3.5);
  }
}

TEST(Contents, tags_tell_neighbouring_tokens_apart) {
  const Case c = two_sharing_requests();
  const Contents contents(c, Fill::kTag);
  std::set<Row> seen;
  for (std::int64_t position = 0; position < 50; ++position) {
    Row row{};
    contents.v_row(1, position, 0, row);
    seen.insert(row);
  }
  EXPECT_EQ(seen.size(), 50u);
}

TEST(Contents, mla_values_are_the_leading_columns_of_the_key_row) {
  Case c = two_sharing_requests();
  c.layer = {.family = Family::kLatent,
             .heads_q = 4,
             .heads_kv = 1,
             .head_dim_qk = 48,
             .head_dim_v = 32,
             .scale = 0.2};
  for (const Fill fill :
       {Fill::kNeedle, Fill::kTag, Fill::kSparseInt, Fill::kExtreme, Fill::kNormal}) {
    const Contents contents(c, fill);
    std::array<float, 48> k{};
    std::array<float, 32> v{};
    contents.k_row(1, 49, 0, k);
    contents.v_row(1, 49, 0, v);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), k.begin())) << to_string(fill);
  }
}

TEST(Contents, of_a_latent_row_have_one_scale_that_no_value_is_beyond) {
  Case c;
  c.layer = {.family = Family::kLatent,
             .heads_q = 4,
             .heads_kv = 1,
             .head_dim_qk = 96,
             .head_dim_v = 64,
             .scale = 0.1};
  c.requests = {{.q_len = 1, .kv_len = 40}};
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.5f;
  c.kv_cache.v_scale = 0.25f;  // of values of their own, which there are none of
  EXPECT_EQ(Contents(c, Fill::kNormal).v_scale(0, 3, 0).all, 0.5f);
  c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  c.kv_cache.scales = KvScales::kToken;
  const Contents contents(c, Fill::kSparseInt);
  Row row{};
  for (std::int64_t position = 0; position < 40; ++position) {
    const RowScale scale = contents.v_scale(0, position, 0);
    contents.v_row(0, position, 0, row);
    for (std::uint32_t d = 0; d < row.size(); ++d) {
      if (d == scale.peak) continue;
      EXPECT_LT(std::fabs(row[d]), 448) << "cut off";
    }
  }
}

TEST(Contents, of_a_recurrent_layer_have_a_state_where_there_was_a_past) {
  Case c;
  c.layer = {.family = Family::kGatedDeltaNet,
             .heads_q = 1,
             .heads_kv = 2,
             .head_dim_qk = 8,
             .head_dim_v = 64,
             .scale = 0.35};
  c.requests = {{.q_len = 5, .kv_len = 5}, {.q_len = 5, .kv_len = 9}};
  const Contents contents(c, Fill::kNormal);
  Row row{};
  contents.state_row(0, 1, 3, row);
  EXPECT_EQ(dot(row, row), 0);
  contents.state_row(1, 1, 3, row);
  EXPECT_GT(dot(row, row), 0);
}

TEST(Contents, timing_data_differ_from_the_data_that_were_checked) {
  const Case c = two_sharing_requests();
  EXPECT_NE(k_of(Contents(c, Fill::kTiming), 0, 3, 0), k_of(Contents(c, Fill::kNormal), 0, 3, 0));
}

TEST(Contents, of_written_encoders_are_those_that_a_cross_layer_reads) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, layer: cross}\n"
      "mixes: {a: {batch: [{mode: decode, kv_len: 4, encoder_len: 20}, "
      "{mode: extend, q_len: 3, prefix_len: 0, encoder_len: [30, 7]}]}}\n",
      "encoders.yaml");
  const Case& cross = scenario.cases[0];
  const Case write = with_step(cross, StepPart::kKvWrite);
  const Contents written(write, Fill::kNormal), read(cross, Fill::kNormal);
  for (const std::int64_t position : {0, 6}) {
    EXPECT_EQ(k_of(written, 1, position, 2), k_of(read, 2, position, 2)) << position;
  }
}

}  // namespace
}  // namespace attnbench
