// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

Case case_of(int heads_q, int heads_kv,
             const std::vector<std::pair<std::int64_t, std::int64_t>>& lengths) {
  Case c;
  c.seed = 3;
  c.layer.heads_q = heads_q;
  c.layer.heads_kv = heads_kv;
  c.kv_cache.page_size = 16;
  for (const auto& [q_len, kv_len] : lengths) {
    Request request;
    request.q_len = q_len;
    request.kv_len = kv_len;
    c.requests.push_back(request);
  }
  return c;
}

std::vector<std::pair<std::int64_t, std::int64_t>> repeated(
    int count, std::pair<std::int64_t, std::int64_t> lengths) {
  return std::vector(static_cast<std::size_t>(count), lengths);
}

bool has_token(const std::vector<RowId>& rows, std::int64_t request, std::int64_t token) {
  return std::ranges::any_of(
      rows, [&](const RowId& row) { return row.request == request && row.token == token; });
}

/// What every sample promises, whatever the case.
void expect_sound(const Case& c, const std::vector<RowId>& rows) {
  const auto key_of = [&](const RowId& row) {
    return std::tuple(row.request, row.head / c.layer.group_size(), row.token, row.head);
  };
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LT(key_of(rows[i - 1]), key_of(rows[i])) << "sorted, no row twice";
  }
  std::set<int> heads;
  for (const RowId& row : rows) {
    heads.insert(row.head);
    ASSERT_LT(row.head, c.layer.heads_q);
    ASSERT_LT(row.token, c.requests[static_cast<std::size_t>(row.request)].q_len);
  }
  EXPECT_EQ(heads.size(), static_cast<std::size_t>(c.layer.heads_q)) << "every query head is met";
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    const auto request = static_cast<std::int64_t>(r);
    EXPECT_TRUE(has_token(rows, request, 0)) << "request " << r;
    EXPECT_TRUE(has_token(rows, request, c.requests[r].q_len - 1)) << "request " << r;
  }
}

TEST(SampleRows, takes_all_rows_when_they_fit) {
  const Case c = case_of(4, 2, {{3, 9}, {1, 30}});
  const std::vector<RowId> rows = sample_rows(c, 16);
  EXPECT_EQ(rows.size(), 16u);
  expect_sound(c, rows);
}

TEST(SampleRows, keeps_its_promises_and_its_budget) {
  const std::vector<Case> cases{
      case_of(32, 8, repeated(64, {1, 4096})),
      case_of(32, 8, repeated(1, {8192, 100'000})),
      case_of(6, 3, {{500, 800}, {1, 1}, {1, 17}, {1, 90}}),
      case_of(128, 1, repeated(5, {4, 3000})),
      case_of(40, 8, repeated(3, {5, 77})),
      case_of(32, 32, repeated(7, {100, 100})),
  };
  for (const Case& c : cases) {
    for (const std::int64_t budget : {200, 512}) {
      const std::vector<RowId> rows = sample_rows(c, budget);
      expect_sound(c, rows);
      const std::int64_t all = c.q_tokens() * c.layer.heads_q;
      EXPECT_LE(static_cast<std::int64_t>(rows.size()), budget);
      EXPECT_GE(static_cast<std::int64_t>(rows.size()), std::min(budget, all) - 8);
    }
  }
}

TEST(SampleRows, covers_every_request_even_beyond_the_budget) {
  const Case c = case_of(8, 2, repeated(300, {4, 50}));
  const std::vector<RowId> rows = sample_rows(c, 100);
  EXPECT_EQ(rows.size(), 600u);
  expect_sound(c, rows);
}

TEST(SampleRows, regenerates_few_kv_heads) {
  const Case c = case_of(32, 8, repeated(64, {1, 4096}));
  std::set<std::pair<std::int64_t, int>> regenerated;
  for (const RowId& row : sample_rows(c, 256)) regenerated.emplace(row.request, row.head / 4);
  EXPECT_EQ(regenerated.size(), 64u);
}

TEST(SampleRows, gives_long_requests_what_short_ones_leave) {
  const Case c = case_of(4, 2, {{1, 100}, {4000, 4000}});
  const std::vector<RowId> rows = sample_rows(c, 512);
  EXPECT_EQ(rows.size(), 512u);
  EXPECT_EQ(std::ranges::count(rows, 0, &RowId::request), 4);
}

TEST(SampleRows, meets_the_edges_of_mask_window_page_and_split) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.layer.sliding_window_size = 1023;
  const std::vector<RowId> rows = sample_rows(c, 64);
  const std::int64_t prefix = 100;
  for (const std::int64_t position : {100, 101, 2098, 2099, 1099, 1100,  // mask: ends and middle
                                      1023, 1024,                        // window leaves key 0
                                      1123, 1124,               // window leaves the first new key
                                      111, 112,                 // first page end
                                      2095, 2096,               // last page end
                                      255, 256, 2047, 2048}) {  // first and last split end
    EXPECT_TRUE(has_token(rows, 0, position - prefix)) << "position " << position;
  }
}

TEST(SampleRows, meets_the_last_query_before_the_first_key_and_the_one_behind) {
  const std::vector<RowId> rows = sample_rows(case_of(2, 1, {{2137, 700}}), 64);
  EXPECT_TRUE(has_token(rows, 0, 1436));
  EXPECT_TRUE(has_token(rows, 0, 1437));
}

TEST(SampleRows, meets_the_first_row_whose_window_reaches_ahead_to_the_last_key) {
  Case c = case_of(2, 1, {{2000, 2000}});
  c.layer.causal = false;
  c.layer.sliding_window_size = 300;
  const std::vector<RowId> rows = sample_rows(c, 64);
  EXPECT_TRUE(has_token(rows, 0, 1698));
  EXPECT_TRUE(has_token(rows, 0, 1699));
}

TEST(SampleRows, meets_the_edges_of_chunks) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.layer.attention_chunk = 300;
  const std::vector<RowId> rows = sample_rows(c, 64);
  for (const std::int64_t position : {299, 300, 899, 900, 1799, 1800}) {
    EXPECT_TRUE(has_token(rows, 0, position - 100)) << "position " << position;
  }
}

TEST(SampleRows, meets_the_edges_of_dual_chunks) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.layer.dual_chunk = {400, 100};
  const std::vector<RowId> rows = sample_rows(c, 64);
  for (const std::int64_t position : {299, 300, 899, 900, 1799, 1800}) {
    EXPECT_TRUE(has_token(rows, 0, position - 100)) << "position " << position;
  }
}

TEST(SampleRows, meets_the_first_row_that_a_temperature_warms) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.layer.temperature_len = 1234;
  const std::vector<RowId> rows = sample_rows(c, 64);
  EXPECT_TRUE(has_token(rows, 0, 1234 - 100));
  EXPECT_TRUE(has_token(rows, 0, 1235 - 100));
}

TEST(SampleRows, meets_the_edges_of_blocks) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.layer.causal_block = 300;
  const std::vector<RowId> rows = sample_rows(c, 64);
  for (const std::int64_t token : {299, 300, 1799, 1800}) {
    EXPECT_TRUE(has_token(rows, 0, token)) << "token " << token;
  }
}

TEST(SampleRows, meets_delimiters_and_the_ends_of_items) {
  Case c = case_of(2, 1, {{2000, 2100}});
  c.requests[0].items = {700, 500};  // delimiters at tokens 797, 1498 and 1999
  const std::vector<RowId> rows = sample_rows(c, 64);
  for (const std::int64_t token : {797, 798, 1497, 1498, 1499, 1998, 1999}) {
    EXPECT_TRUE(has_token(rows, 0, token)) << "token " << token;
  }
}

TEST(SampleRows, is_a_function_of_the_case_and_its_seed) {
  Case c = case_of(2, 1, {{2000, 2100}});
  const std::vector<RowId> rows = sample_rows(c, 100);
  EXPECT_EQ(rows, sample_rows(c, 100));
  c.seed = 4;
  EXPECT_NE(rows, sample_rows(c, 100));
}

TEST(SampleRows, of_an_idle_step_is_empty) {
  EXPECT_TRUE(sample_rows(case_of(2, 1, {}), 9).empty());
}

}  // namespace
}  // namespace attnbench::reference
