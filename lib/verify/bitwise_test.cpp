// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "lib/base/error.h"
#include "lib/verify/bitwise.h"

namespace attnbench {
namespace {

/// O [3, 2, 2] and LSE [3, 2], f32.
struct Outputs {
  std::vector<float> out = std::vector<float>(12, 1.5f);
  std::vector<float> lse = std::vector<float>(6, 2.0f);

  [[nodiscard]] AttentionTensors io() {
    AttentionTensors io;
    io.out = TensorView::dense(reinterpret_cast<std::byte*>(out.data()), DType::kF32, 3, 2, 2);
    io.lse = TensorView::dense(reinterpret_cast<std::byte*>(lse.data()), DType::kF32, 3, 2, 1);
    return io;
  }
};

TEST(OutputBits, counts_differing_elements_of_both_tensors) {
  Outputs a, b;
  EXPECT_EQ(OutputBits(a.io()).differing(OutputBits(b.io())), 0);
  b.out[3] = 1.25f;
  b.lse[5] = 2.5f;
  EXPECT_EQ(OutputBits(a.io()).differing(OutputBits(b.io())), 2);
}

TEST(OutputBits, tells_zeros_apart_by_sign) {
  Outputs a, b;
  a.out[0] = 0.0f;
  b.out[0] = -0.0f;
  EXPECT_EQ(OutputBits(a.io()).differing(OutputBits(b.io())), 1);
}

TEST(OutputBits, takes_any_two_nan_for_equal_but_not_nan_for_a_number) {
  Outputs a, b;
  a.out[0] = std::numeric_limits<float>::quiet_NaN();
  b.out[0] = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(OutputBits(a.io()).differing(OutputBits(b.io())), 0);
  b.out[0] = 1;
  EXPECT_EQ(OutputBits(a.io()).differing(OutputBits(b.io())), 1);
}

TEST(OutputBits, compares_a_part_with_the_tokens_it_was_taken_from) {
  Outputs a;
  a.out[8] = 7;  // token 2
  const OutputBits whole(a.io());
  const OutputBits last(a.io(), 2, 1);
  EXPECT_EQ(whole.differing(last, 2), 0);
  EXPECT_EQ(whole.differing(last, 1), 1);
  EXPECT_THROW(static_cast<void>(whole.differing(last, 3)), InternalError);
}

/// Four slots of one head, [2, 3].
struct States {
  std::vector<float> values = std::vector<float>(24, 0.5f);
  [[nodiscard]] StatePool pool() { return {values.data(), 4, 1, 2, 3}; }
};

std::vector<StateSlots> slots_at(const std::vector<std::int64_t>& firsts, std::int64_t count = 1) {
  std::vector<StateSlots> slots;
  for (const std::int64_t first : firsts) slots.push_back({first, count});
  return slots;
}

TEST(StateBits, are_compared_by_request_wherever_its_slot_is) {
  States a, b;
  for (int i = 0; i < 6; ++i) {
    a.values[static_cast<std::size_t>(1 * 6 + i)] = 1.0f + static_cast<float>(i);
    b.values[static_cast<std::size_t>(3 * 6 + i)] = 1.0f + static_cast<float>(i);
  }
  const StateBits whole(a.pool(), slots_at({2, 1}));
  EXPECT_EQ(whole.differing(StateBits(b.pool(), slots_at({1, 3}))), 0);
  EXPECT_EQ(whole.differing(StateBits(b.pool(), slots_at({3, 1}))), 2);
  const StateBits second(b.pool(), slots_at({3}));
  EXPECT_EQ(whole.of(1), second.of(0));
  EXPECT_NE(whole.of(0), second.of(0));
  EXPECT_THROW(static_cast<void>(whole.differing(second)), InternalError);
  EXPECT_EQ(StateBits().differing(StateBits(StatePool{}, {})), 0) << "other layers have none";
  EXPECT_EQ(StateBits().of(3), 0U);
}

TEST(StateBits, tell_the_last_bit_of_one_number) {
  States a, b;
  const std::vector<StateSlots> slots = slots_at({0, 3});
  b.values[23] = std::nextafter(0.5f, 1.0f);
  EXPECT_EQ(StateBits(a.pool(), slots).differing(StateBits(b.pool(), slots)), 1);
}

TEST(StateBits, are_of_all_the_states_that_a_draft_leaves) {
  States a, b;
  b.values[7] = 2;  // of slot 1
  const std::vector<StateSlots> slots = slots_at({0, 2}, 2);
  const StateBits here(a.pool(), slots), there(b.pool(), slots);
  EXPECT_NE(here.of(0), there.of(0));
  EXPECT_EQ(here.of(1), there.of(1));
}

Case case_of(std::int64_t requests) {
  Case c;
  c.seed = 5;
  for (std::int64_t r = 0; r < requests; ++r) {
    Request request;
    request.kv_len = 10 + r;
    c.requests.push_back(request);
  }
  return c;
}

TEST(BatchCompositions, hold_requests_once_with_the_contents_that_they_had) {
  const Case c = case_of(7);
  std::set<std::vector<std::size_t>> different;
  std::set<std::size_t> sizes, met;
  for (const BatchComposition& batch : batch_compositions(c, 100)) {
    ASSERT_EQ(batch.requests.size(), batch.step.requests.size());
    EXPECT_EQ(std::set<std::size_t>(batch.requests.begin(), batch.requests.end()).size(),
              batch.requests.size());
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
      EXPECT_EQ(batch.step.requests[i].stream, static_cast<std::int64_t>(batch.requests[i]));
      EXPECT_EQ(batch.step.requests[i].kv_len, c.requests[batch.requests[i]].kv_len);
      met.insert(batch.requests[i]);
    }
    sizes.insert(batch.requests.size());
    different.insert(batch.requests);
  }
  EXPECT_EQ(sizes.size(), 7U);
  EXPECT_EQ(met.size(), 7U);
  EXPECT_GT(different.size(), 70U);
}

TEST(BatchCompositions, have_pools_of_their_own_size_and_nothing_that_fills_them_up) {
  Case c = case_of(4);
  c.kv_cache.pool_tokens = 1000;
  c.padding = {.requests = 3, .seq_len = 1};
  const BatchComposition batch = composition_of(c, {2, 0});
  EXPECT_EQ(batch.step.kv_cache.pool_tokens, 0);
  EXPECT_EQ(batch.step.padding.requests, 0);
}

TEST(BatchCompositions, meet_each_request_where_there_are_as_many_batches) {
  std::set<std::size_t> met;
  for (const BatchComposition& batch : batch_compositions(case_of(40), 40)) {
    met.insert(batch.requests.begin(), batch.requests.end());
  }
  EXPECT_EQ(met.size(), 40U);
}

TEST(BatchCompositions, are_the_same_for_the_same_seed) {
  const auto first = batch_compositions(case_of(5), 9), again = batch_compositions(case_of(5), 9);
  Case other = case_of(5);
  other.seed = 6;
  bool differs = false;
  const auto of_other_seed = batch_compositions(other, 9);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].requests, again[i].requests);
    differs = differs || first[i].requests != of_other_seed[i].requests;
  }
  EXPECT_TRUE(differs);
  EXPECT_TRUE(batch_compositions(case_of(0), 9).empty());
}

TEST(BatchCompositions, keep_the_contents_of_a_request_that_was_taken_out_before) {
  Case c = case_of(2);
  c.requests[1].stream = 9;
  EXPECT_EQ(composition_of(c, {1}).step.requests[0].stream, 9);
}

}  // namespace

}  // namespace attnbench
