// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/multi_item.h"

#include <gmock/gmock.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using Items = std::vector<std::vector<std::int64_t>>;

TEST(MultiItem, counts_a_delimiter_before_each_item_and_one_behind_the_last) {
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{}), 0);
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{2, 1}), 6);
  EXPECT_EQ(tokens_of_items(std::vector<std::int64_t>{3, 2, 4}), 13);
}

TEST(MultiItem, numbers_the_tokens_of_each_item_from_its_delimiter_on) {
  const MultiItemParams params =
      make_multi_item_params(std::vector<std::int64_t>{9, 20, 7}, Items{{2, 1}, {1, 1, 3}, {}});
  EXPECT_THAT(params.prefix_len_ptr, ElementsAreArray({3, 11, 7}));
  EXPECT_EQ(params.token_pos_in_items_len, 9);
  EXPECT_THAT(params.token_pos_in_items_ptr, ElementsAreArray({0, 1, 2, 0, 1, 0, 0, 0, 0,  //
                                                               0, 1, 0, 1, 0, 1, 2, 3, 0,  //
                                                               0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_THAT(params.max_item_len_ptr, ElementsAreArray({2, 3, 0}));
}

TEST(MultiItem, lets_each_item_go_on_from_the_prefix_and_delimiters_stand_at_its_end) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kExtend;
  batch.batch_size = 2;
  batch.seq_lens = {9, 7};
  batch.extend_prefix_lens = {2, 5};
  batch.extend_seq_lens = {7, 2};
  batch.positions = {2, 3, 4, 5, 6, 7, 8, 5, 6, 0};  // and a row of no request
  batch.multi_item = make_multi_item_params(std::vector<std::int64_t>{9, 7}, Items{{2, 1}, {}});
  // Keys 0 to 2 are the prefix, delimiters are 3, 6 and 8.
  EXPECT_THAT(positions_beside_items(batch), ElementsAreArray({2, 2, 3, 4, 2, 3, 2, 5, 6, 0}));
}

TEST(MultiItem, refuses_items_longer_than_their_request) {
  EXPECT_THROW(
      static_cast<void>(make_multi_item_params(std::vector<std::int64_t>{5}, Items{{2, 1}})),
      InternalError);
}

}  // namespace
}  // namespace attnbench
