// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using Lens = std::vector<std::int32_t>;

TEST(Positions, continue_after_the_prefix_of_each_request) {
  EXPECT_THAT(extend_positions(Lens{5, 0, 5}, Lens{2, 2, 5}),
              ElementsAreArray({5, 6, 0, 1, 5, 6, 7, 8, 9}));
  EXPECT_THAT(indptr_of(Lens{2, 2, 5}), ElementsAreArray({0, 2, 4, 9}));
}

TEST(Positions, of_a_mixed_batch_treat_decodes_as_extends_of_one_token) {
  EXPECT_THAT(extend_positions(Lens{8, 5, 2}, Lens{4, 1, 1}),
              ElementsAreArray({8, 9, 10, 11, 5, 2}));
}

TEST(Positions, of_padding_rows_in_a_decode_are_clamped_to_zero) {
  EXPECT_THAT(decode_positions(Lens{7, 1, 0}), ElementsAreArray({6, 0, 0}));
}

TEST(Positions, of_draft_tokens_add_their_depth_to_the_committed_length) {
  const std::vector<std::vector<int>> trees(2, {-1, 0, 0, 0, 1, 1});
  EXPECT_THAT(verify_positions(Lens{3, 5}, trees),
              ElementsAreArray({3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7}));
}

TEST(IndptrOf, refuses_sums_beyond_32_bits_and_negative_lengths) {
  EXPECT_THROW(static_cast<void>(indptr_of(Lens{2147483647, 1})), InternalError);
  EXPECT_THROW(static_cast<void>(indptr_of(Lens{-1})), InternalError);
  EXPECT_THAT(indptr_of(Lens{}), ElementsAreArray({0}));
}

}  // namespace
}  // namespace attnbench
