// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/local_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using Lens = std::vector<std::int32_t>;

/// Rows of `width` consecutive page numbers, 0.., 10.., 20...
PageTable table_of(const Lens& kv_lens, std::int64_t width, std::int64_t page_size) {
  PageTable table;
  table.page_size = page_size;
  table.width = width;
  table.cache_seqlens = kv_lens;
  for (std::size_t r = 0; r < kv_lens.size(); ++r) {
    for (std::int64_t j = 0; j < width; ++j) {
      table.page_table.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(r) * 10 + j));
    }
  }
  return table;
}

TEST(LocalAttention, cuts_requests_where_chunks_end) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{4, 10, 5}, table_of({6, 17, 9}, 10, 2));
  EXPECT_THAT(local.q_lens, ElementsAreArray({2, 2, 1, 4, 4, 1, 4, 1}));
  EXPECT_THAT(local.cu_seqlens_q, ElementsAreArray({0, 2, 4, 5, 9, 13, 14, 18, 19}));
  EXPECT_THAT(local.table.cache_seqlens, ElementsAreArray({4, 2, 4, 4, 4, 1, 4, 1}));
  EXPECT_THAT(local.k_starts, ElementsAreArray({0, 4, 4, 8, 12, 16, 4, 8}));
  EXPECT_THAT(local.table.page_table,
              ElementsAreArray({0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 25}));
}

TEST(LocalAttention, clips_pages_to_the_width_of_the_table) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{4, 10, 5}, table_of({6, 17, 9}, 9, 2));
  EXPECT_THAT(local.table.row(5), ElementsAreArray({18, 18}));
}

TEST(LocalAttention, of_a_decode_sees_the_own_chunk_only) {
  const auto decode = [](std::int32_t kv_len) {
    return make_local_attention_virtual_batches(8192, Lens{1}, table_of({kv_len}, 2, 8192));
  };
  EXPECT_THAT(decode(8193).table.cache_seqlens, ElementsAreArray({1}));
  EXPECT_THAT(decode(8193).k_starts, ElementsAreArray({8192}));
  EXPECT_THAT(decode(8192).table.cache_seqlens, ElementsAreArray({8192}));
  EXPECT_THAT(decode(8192).k_starts, ElementsAreArray({0}));
}

TEST(LocalAttention, leaves_a_request_without_keys_that_fills_a_batch_up_its_query) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{1, 1}, table_of({0, 5}, 10, 2));
  EXPECT_THAT(local.cu_seqlens_q, ElementsAreArray({0, 1, 2}));
  EXPECT_THAT(local.table.cache_seqlens, ElementsAreArray({0, 1}));
}

TEST(LocalAttention, has_nothing_of_a_request_without_queries_that_fills_a_prompt_up) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{0, 5, 0}, table_of({1, 6, 0}, 10, 2));
  EXPECT_THAT(local.cu_seqlens_q, ElementsAreArray({0, 3, 5}));
  EXPECT_THAT(local.k_starts, ElementsAreArray({0, 4}));
  EXPECT_THAT(local.table.page_table, ElementsAreArray({10, 11, 12, 13}));
}

// Of 20 queries over 6 keys 14 stand before key 0.
TEST(LocalAttention, counts_queries_that_see_no_key_among_those_of_the_first_chunk) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{20, 3}, table_of({6, 0}, 10, 2));
  EXPECT_THAT(local.q_lens, ElementsAreArray({18, 2, 3}));
  EXPECT_THAT(local.k_starts, ElementsAreArray({0, 4, 0}));
  EXPECT_THAT(local.table.cache_seqlens, ElementsAreArray({4, 2, 0}));
}

TEST(LocalAttention, of_requests_without_any_key_has_a_table_of_page_0) {
  const LocalAttentionBatch local =
      make_local_attention_virtual_batches(4, Lens{1}, table_of({0}, 0, 2));
  EXPECT_THAT(local.table.page_table, ElementsAreArray({0, 0}));
  EXPECT_THAT(local.table.cache_seqlens, ElementsAreArray({0}));
}

// The definition: key j is visible to query i iff j <= i and both lie in one chunk.
TEST(LocalAttention, shows_each_query_what_the_definition_says) {
  for (std::int32_t kv = 1; kv <= 20; ++kv) {
    for (std::int32_t q = 1; q <= kv; ++q) {
      const LocalAttentionBatch local =
          make_local_attention_virtual_batches(6, Lens{q}, table_of({kv}, 10, 2));
      std::int64_t query = kv - q;
      for (std::size_t v = 0; v < local.q_lens.size(); ++v) {
        for (std::int64_t i = 0; i < local.q_lens[v]; ++i, ++query) {
          // Bottom-right causal inside the virtual request.
          const std::int64_t seen = local.table.cache_seqlens[v] - local.q_lens[v] + i + 1;
          EXPECT_EQ(local.k_starts[v], query / 6 * 6);
          EXPECT_EQ(local.k_starts[v] + seen - 1, query);
        }
      }
      EXPECT_EQ(query, kv);
    }
  }
}

TEST(LocalAttention, refuses_a_chunk_that_cuts_pages) {
  EXPECT_THROW(
      static_cast<void>(make_local_attention_virtual_batches(5, Lens{1}, table_of({6}, 10, 2))),
      InternalError);
}

}  // namespace
}  // namespace attnbench
