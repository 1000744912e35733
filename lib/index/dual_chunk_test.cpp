// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/dual_chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

constexpr DualChunk kSmall{8, 2};  // chunks of 6 keys

/// Pages 10, 11, ... of each request.
PageTable table_of(std::vector<std::int32_t> kv_lens, std::int64_t page_size) {
  PageTable table;
  table.page_size = page_size;
  table.width = 20;
  table.cache_seqlens = std::move(kv_lens);
  for (std::size_t r = 0; r < table.cache_seqlens.size(); ++r) {
    for (int page = 10; page < 30; ++page) table.page_table.push_back(page);
  }
  return table;
}

// SGLang's own lengths for chunks of 8 with 2 local tokens.
TEST(DualChunkDecode, has_the_lengths_of_the_three_parts) {
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table_of({6, 7, 13, 20}, 1));
  EXPECT_THAT(decode.intra.cache_seqlens, ElementsAre(6, 1, 1, 2));
  EXPECT_THAT(decode.succ.cache_seqlens, ElementsAre(0, 6, 6, 6));
  EXPECT_THAT(decode.inter, ElementsAre(0, 0, 6, 12));
}

TEST(DualChunkDecode, divides_the_keys_of_any_length) {
  std::vector<std::int32_t> lens(100);
  std::iota(lens.begin(), lens.end(), 0);
  PageTable table = table_of(lens, 6);
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table);
  for (std::size_t keys = 0; keys < lens.size(); ++keys) {
    const std::int32_t intra = decode.intra.cache_seqlens[keys];
    EXPECT_EQ(intra + decode.succ.cache_seqlens[keys] + decode.inter[keys], lens[keys]);
    EXPECT_LE(intra, 6);
    EXPECT_EQ(intra == 0, keys == 0);
  }
}

TEST(DualChunkDecode, begins_its_tables_where_the_chunks_begin) {
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table_of({5, 9, 20}, 2));
  EXPECT_THAT(decode.intra.page_table, ElementsAre(10, 11, 12, 13, 14, -1, 19, -1, -1));
  EXPECT_THAT(decode.succ.page_table, ElementsAre(-1, -1, -1, 10, 11, 12, 16, 17, 18));
}

TEST(DualChunkDecode, refuses_chunks_that_begin_inside_of_pages) {
  EXPECT_THROW(static_cast<void>(make_dual_chunk_decode(kSmall, table_of({20}, 4))), InternalError);
}

}  // namespace
}  // namespace attnbench
