// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/fresh_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/contents/contents.h"

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

/// First and last position.
std::pair<std::int64_t, std::int64_t> range_of(const Case& c) {
  const FreshKeyChoice choice = fresh_key_choice(c, c.requests[0]);
  return {choice.first, choice.first + choice.count - 1};
}

TEST(FreshKeys, lie_before_the_step_so_that_all_its_queries_see_them) {
  EXPECT_EQ(range_of(one_request(5, 40)), std::pair(0l, 34l));
}

TEST(FreshKeys, of_a_whole_prompt_are_seen_by_half_of_its_queries) {
  EXPECT_EQ(range_of(one_request(40, 40)), std::pair(0l, 19l));
}

TEST(FreshKeys, keep_out_of_shared_prefixes_and_within_the_window) {
  Case c = one_request(1, 40);
  c.requests[0].shared_prefix = 0;
  c.requests[0].shared_len = 38;
  EXPECT_EQ(range_of(c), std::pair(38l, 38l));
  c.requests[0].shared_len = 39;
  EXPECT_EQ(range_of(c), std::pair(39l, 39l));
  c.requests[0].shared_len = 0;
  c.layer.sliding_window_size = 3;
  EXPECT_EQ(range_of(c), std::pair(36l, 38l));
}

TEST(FreshKeys, lie_in_the_chunk_of_the_last_query) {
  Case c = one_request(1, 40);
  c.layer.attention_chunk = 36;
  EXPECT_EQ(range_of(c).first, 36);
  c = one_request(10, 40);
  c.layer.attention_chunk = 36;
  c.step = StepPart::kBoth;
  EXPECT_EQ(range_of(c), std::pair(36l, 36l)) << "the first new key of that chunk";
  c.layer.attention_chunk = 20;
  EXPECT_EQ(range_of(c), std::pair(30l, 30l));
}

TEST(FreshKeys, lie_before_the_items_of_which_the_last_query_sees_none) {
  Case c = one_request(40, 40);
  c.requests[0].items = {20, 10};  // behind 7 tokens
  EXPECT_LT(range_of(c).second, 7);
}

TEST(FreshKeys, of_a_tree_without_a_prefix_of_its_own_are_the_last_node) {
  Case c = one_request(3, 3);
  c.requests[0].tree_parents = {-1, 0, 0};
  EXPECT_EQ(range_of(c), std::pair(2l, 2l));
}

TEST(FreshKeys, are_missing_where_a_request_has_no_key_of_its_own) {
  Case c = one_request(0, 8);
  c.requests[0].shared_len = 8;
  EXPECT_EQ(fresh_key_choice(c, c.requests[0]).count, 0);
  EXPECT_EQ(fresh_key_of(fresh_key_choice(c, c.requests[0]), 1, 1).position, -1);
}

TEST(FreshKeys, change_their_position_and_size_from_sample_to_sample) {
  const Case c = one_request(1, 40);
  std::set<std::int64_t> positions;
  std::set<float> sizes;
  for (std::int64_t number = 1; number <= 1000; ++number) {
    const FreshKey fresh = Contents(c, number).fresh_keys().at(0);
    positions.insert(fresh.position);
    sizes.insert(fresh.size);
  }
  EXPECT_EQ(positions.size(), 39u) << "all before the step";
  EXPECT_EQ(sizes.size(), 3u);
}

TEST(FreshKeys, have_elements_of_many_sizes_and_none_larger_than_those_of_other_keys) {
  const Case c = one_request(1, 4000);
  for (std::int64_t number = 1; number <= 20; ++number) {
    const Contents contents(c, number);
    std::set<float> sizes;
    for (const float each : row_of(contents, contents.fresh_keys()[0].position, false)) {
      sizes.insert(std::fabs(each));
      EXPECT_LE(std::fabs(each), 3.48f);
    }
    EXPECT_GT(sizes.size(), 30u) << "of 64";
  }
}

TEST(ContentsOfASample, differ_from_the_timed_ones_in_queries_one_key_and_a_page) {
  const Case c = one_request(4, 30);  // pages of one token
  const Contents timing(c, Fill::kTiming), first(c, 1), second(c, 2);
  const std::int64_t fresh = first.fresh_keys().at(0).position;
  int rewritten = 0;
  for (std::int64_t position = 0; position < 30; ++position) {
    EXPECT_FALSE(first.is_rewritten(0, position) && position == fresh);
    rewritten += first.is_rewritten(0, position) ? 1 : 0;
    for (const bool value : {false, true}) {
      const bool changed = position == fresh || first.is_rewritten(0, position);
      EXPECT_EQ(row_of(first, position, value) != row_of(timing, position, value), changed);
    }
  }
  EXPECT_EQ(rewritten, 1);
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

TEST(ContentsOfASample, rewrite_one_page_in_32_of_own_keys_and_of_shared_prefixes) {
  Case c = one_request(1, 64 * 16 + 5);
  c.kv_cache.page_size = 16;
  c.prefixes = {SharedPrefix{.length = 40 * 16}};
  c.requests.push_back(c.requests[0]);
  c.requests[1].shared_prefix = 0;
  c.requests[1].shared_len = 40 * 16;
  std::set<std::int64_t> ever;
  for (std::int64_t number = 1; number <= 600; ++number) {
    const Contents contents(c, number);
    for (const std::int64_t request : {0, 1}) {
      std::set<std::int64_t> shared, own;
      for (std::int64_t p = 0; p < c.requests[0].kv_len; ++p) {
        if (!contents.is_rewritten(request, p)) continue;
        (p < c.requests[to_size(request)].shared_len ? shared : own).insert(p / 16);
      }
      EXPECT_EQ(own.size(), request == 0 ? 3u : 1u) << "of 65 pages, and of 25";
      EXPECT_EQ(shared.size(), request == 0 ? 0u : 2u) << "of 40";
      if (request == 0) ever.insert(own.begin(), own.end());
    }
  }
  EXPECT_EQ(ever.size(), 65u) << "each page has its turn";
}

TEST(ContentsOfASample, rewrite_compressed_rows_by_pages_of_their_own) {
  Case c = one_request(1, 701);
  c.kv_cache.page_size = 16;
  c.layer.compress_ratio = 4;
  std::set<std::int64_t> ever;
  for (std::int64_t number = 1; number <= 600; ++number) {
    const Contents contents(c, number);
    std::set<std::int64_t> pages;
    for (std::int64_t row = 0; row < 175; ++row) {
      const std::int64_t first = row / 16 * 16;
      EXPECT_EQ(contents.is_on_rewritten_page(0, 701 + row),
                contents.is_on_rewritten_page(0, 701 + first))
          << row;
      if (contents.is_on_rewritten_page(0, 701 + row)) pages.insert(first);
    }
    ever.insert(pages.begin(), pages.end());
  }
  EXPECT_EQ(ever.size(), 11u) << "each page of rows has its turn";
}

TEST(ContentsOfASample, rewrite_a_page_by_changing_signs) {
  const Case c = one_request(1, 30);
  const Contents timing(c, Fill::kTiming), sample(c, 1);
  for (std::int64_t p = 0; p < 30; ++p) {
    if (!sample.is_rewritten(0, p)) continue;
    const std::vector<float> before = row_of(timing, p, true), after = row_of(sample, p, true);
    int changed = 0;
    for (std::size_t d = 0; d < before.size(); ++d) {
      EXPECT_EQ(std::fabs(before[d]), std::fabs(after[d]));
      changed += before[d] != after[d] ? 1 : 0;
    }
    EXPECT_GT(changed, 16);
    EXPECT_LT(changed, 48);
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
      const FreshKeyChoice choice = fresh_key_choice(c, c.requests[0]);
      std::vector<double> weights[3];
      for (std::int64_t number = 1; number <= 96; ++number) {
        const float size = Contents(c, number).fresh_keys()[0].size;
        for (int i = 0; i < 3; ++i) {
          if (choice.sizes[i] != size) continue;
          weights[i].push_back(weight_of_fresh_key(c, number, static_cast<int>(number % 4)));
        }
      }
      // The logit is normal, so the weight has a long tail: its median is what was asked for.
      const auto middle = [&](int i) {
        std::ranges::sort(weights[i]);
        return weights[i][weights[i].size() / 2];
      };
      EXPECT_GT(middle(0), 0.25) << keys << " keys at scale " << scale;
      if (keys < 3000 || scale > 0.5) continue;
      EXPECT_NEAR(middle(1), 0.1, 0.06) << keys << " keys at scale " << scale;
      EXPECT_NEAR(middle(2), 0.02, 0.012) << keys << " keys at scale " << scale;
    }
  }
}

}  // namespace
}  // namespace attnbench
