// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/fresh_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lib/scenario/contents.h"

namespace attnbench {
namespace {

Case one_request(std::int64_t q_len, std::int64_t kv_len) {
  Case c;
  c.seed = 3;
  c.layer.heads_q = 4;
  c.layer.heads_kv = 2;
  c.layer.head_dim_qk = c.layer.head_dim_v = 64;
  c.layer.scale = 1 / std::sqrt(64.0);
  Request request;
  request.q_len = q_len;
  request.kv_len = kv_len;
  c.requests.push_back(request);
  return c;
}

std::vector<float> row_of(const Contents& contents, std::int64_t position, bool value) {
  std::vector<float> row(64);
  value ? contents.v_row(0, position, 1, row) : contents.k_row(0, position, 1, row);
  return row;
}

TEST(FreshKeys, lie_before_the_step_so_that_all_its_queries_see_them) {
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    const Case c = one_request(5, 40);
    const std::int64_t position = fresh_position(c, c.requests[0], stream);
    EXPECT_GE(position, 0);
    EXPECT_LT(position, 35);
  }
}

TEST(FreshKeys, of_a_whole_prompt_are_seen_by_half_of_its_queries) {
  const Case c = one_request(40, 40);
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    EXPECT_LT(fresh_position(c, c.requests[0], stream), 20);
  }
}

TEST(FreshKeys, keep_out_of_shared_prefixes_and_within_the_window) {
  Case c = one_request(1, 40);
  c.requests[0].shared_prefix = 0;
  c.requests[0].shared_len = 38;
  EXPECT_EQ(fresh_position(c, c.requests[0], 0), 38);
  c.requests[0].shared_len = 39;
  EXPECT_EQ(fresh_position(c, c.requests[0], 0), 39);
  c.requests[0].shared_len = 0;
  c.layer.sliding_window_size = 3;
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    EXPECT_GE(fresh_position(c, c.requests[0], stream), 36);
  }
}

TEST(FreshKeys, lie_in_the_chunk_of_the_last_query) {
  Case c = one_request(1, 40);
  c.layer.attention_chunk = 36;
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    EXPECT_GE(fresh_position(c, c.requests[0], stream), 36);
  }
  c = one_request(10, 40);
  c.layer.attention_chunk = 36;
  c.step = StepPart::kBoth;
  EXPECT_EQ(fresh_position(c, c.requests[0], 0), 36) << "the first new key of that chunk";
  c.layer.attention_chunk = 20;
  EXPECT_EQ(fresh_position(c, c.requests[0], 0), 30);
}

TEST(FreshKeys, lie_before_the_items_of_which_the_last_query_sees_none) {
  Case c = one_request(40, 40);
  c.requests[0].items = {20, 10};  // behind 7 tokens
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    EXPECT_LT(fresh_position(c, c.requests[0], stream), 7);
  }
}

TEST(FreshKeys, of_a_tree_without_a_prefix_of_its_own_are_the_last_node) {
  Case c = one_request(3, 3);
  c.requests[0].tree_parents = {-1, 0, 0};
  EXPECT_EQ(fresh_position(c, c.requests[0], 9), 2);
}

TEST(FreshKeys, are_missing_where_a_request_has_no_key_of_its_own) {
  Case c = one_request(0, 8);
  c.requests[0].shared_len = 8;
  EXPECT_EQ(fresh_position(c, c.requests[0], 0), -1);
}

TEST(ContentsOfASample, differ_from_the_timed_ones_in_queries_and_one_key) {
  const Case c = one_request(4, 30);
  const Contents timing(c, Fill::kTiming), first(c, 1), second(c, 2);
  const std::int64_t fresh = first.fresh_keys().at(0).position;
  EXPECT_EQ(second.fresh_keys().at(0).position, fresh) << "one position a request";
  for (std::int64_t position = 0; position < 30; ++position) {
    for (const bool value : {false, true}) {
      const bool changed = position == fresh;
      EXPECT_EQ(row_of(first, position, value) != row_of(timing, position, value), changed);
      EXPECT_EQ(row_of(first, position, value) != row_of(second, position, value), changed);
    }
  }
  for (std::int64_t token = 0; token < 4; ++token) {
    std::vector<float> rows[3] = {std::vector<float>(64), std::vector<float>(64),
                                  std::vector<float>(64)};
    timing.q_row(0, token, 3, rows[0]);
    first.q_row(0, token, 3, rows[1]);
    second.q_row(0, token, 3, rows[2]);
    EXPECT_NE(rows[0], rows[1]);
    EXPECT_NE(rows[1], rows[2]);
  }
}

/// Weight of the fresh key for the last query.
double weight_of_fresh_key(const Case& c, std::int64_t number, int head) {
  const Contents contents(c, number);
  const auto dims = static_cast<std::size_t>(c.layer.head_dim_qk);
  std::vector<float> q(dims), k(dims);
  const Request& request = c.requests[0];
  contents.q_row(0, request.q_len - 1, head, q);
  double fresh = 0, all = 0;
  for (std::int64_t j = 0; j < request.kv_len; ++j) {
    contents.k_row(0, j, head / c.layer.group_size(), k);
    double logit = 0;
    for (std::size_t d = 0; d < dims; ++d) logit += double{q[d]} * double{k[d]};
    const double weight =
        std::exp(logit * c.layer.scale * logit_temperature(c.layer, request.kv_len - 1));
    all += weight;
    if (j == contents.fresh_keys()[0].position) fresh = weight;
  }
  return fresh / all;
}

TEST(ContentsOfASample, give_the_fresh_key_a_weight_that_shows_at_any_length_and_scale) {
  for (const double scale : {0.02, 1 / std::sqrt(64.0), 1.0}) {
    for (const std::int64_t keys : {2, 30, 3000}) {
      Case c = one_request(1, keys);
      c.layer.scale = scale;
      if (keys == 3000) {  // a temperature of 1.9 on logits 1.9 times smaller
        c.layer.temperature_len = 64;
        c.layer.scale /= logit_temperature(c.layer, keys - 1);
      }
      double sum = 0;
      constexpr int kNumbers = 24;
      for (std::int64_t number = 1; number <= kNumbers; ++number) {
        sum += weight_of_fresh_key(c, number, static_cast<int>(number % 4));
      }
      EXPECT_GT(sum / kNumbers, 0.25) << keys << " keys at scale " << scale;
    }
  }
}

}  // namespace
}  // namespace attnbench
