// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/multi_item.h"

#include <gmock/gmock.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Items = std::vector<std::vector<std::int64_t>>;

TEST(MultiItem, counts_a_delimiter_before_each_item_and_one_behind_the_last) {
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{}), 0);
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{2, 1}), 6);
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{3, 2, 4}), 13);
}

TEST(MultiItem, numbers_the_tokens_of_each_item_from_its_delimiter_on) {
  const MultiItemParams params =
      make_multi_item_params(std::vector<std::int64_t>{9, 20, 7}, Items{{2, 1}, {1, 1, 3}, {}});
  EXPECT_THAT(params.prefix_len_ptr, ElementsAre(3, 11, 7));
  EXPECT_EQ(params.token_pos_in_items_len, 9);
  EXPECT_THAT(params.token_pos_in_items_ptr, ElementsAre(0, 1, 2, 0, 1, 0, 0, 0, 0,  //
                                                         0, 1, 0, 1, 0, 1, 2, 3, 0,  //
                                                         0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(params.max_item_len_ptr, ElementsAre(2, 3, 0));
}

TEST(MultiItem, refuses_items_longer_than_their_request) {
  EXPECT_THROW(
      static_cast<void>(make_multi_item_params(std::vector<std::int64_t>{5}, Items{{2, 1}})),
      InternalError);
}

}  // namespace
}  // namespace attnbench
