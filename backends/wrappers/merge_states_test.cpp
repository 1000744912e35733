// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/merge_states.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace attnbench {
namespace {

constexpr float kEmpty = -std::numeric_limits<float>::infinity();

/// The state of one row.
struct RowState {
  std::vector<float> out;
  float lse = 0;

  AttentionState view() {
    return {TensorView::dense(reinterpret_cast<std::byte*>(out.data()), DType::kF32, 1, 1,
                              static_cast<std::int64_t>(out.size())),
            TensorView::dense(reinterpret_cast<std::byte*>(&lse), DType::kF32, 1, 1, 1)};
  }
};

RowState merged(RowState a, RowState b) {
  const auto device = make_cpu_device();
  RowState to{std::vector<float>(a.out.size(), -1.0f), -1};
  merge_states_on_cpu({a.view(), b.view(), to.view()}, *device->make_stream());
  return to;
}

void expect_near(const RowState& found, const RowState& expected) {
  for (std::size_t i = 0; i < expected.out.size(); ++i) {
    EXPECT_NEAR(found.out[i], expected.out[i], 1e-6) << i;
  }
  if (expected.lse == kEmpty) {
    EXPECT_EQ(found.lse, kEmpty);
  } else {
    EXPECT_NEAR(found.lse, expected.lse, 1e-6);
  }
}

// LSEs are natural: a key of weight 1 at value 1 beside three at value 3.
TEST(MergeStates, weighs_by_exp_of_the_lse) {
  expect_near(merged({{1}, 0}, {{3}, std::log(3.0f)}), {{2.5f}, std::log(4.0f)});
}

// Query [1, 0] over keys [1, 0], [0, 1], [1, 1] with values [1, 0], [0, 1], [2, 2], scale
// 1/sqrt(2).
TEST(MergeStates, puts_a_softmax_together_that_was_cut_behind_its_second_key) {
  const RowState first{{0.669761549f, 0.330238451f}, 1.107940308f};
  const RowState second{{2, 2}, 0.707106781f};
  const RowState whole{{1.203336278f, 1.0f}, 1.620621139f};
  expect_near(merged(first, second), whole);
  expect_near(merged(second, first), whole);
}

TEST(MergeStates, leaves_a_state_as_it_is_beside_one_that_saw_nothing) {
  const RowState some{{5, -7}, 88};
  expect_near(merged(some, {{0, 0}, kEmpty}), some);
  expect_near(merged({{0, 0}, kEmpty}, some), some);
  expect_near(merged({{0, 0}, kEmpty}, {{0, 0}, kEmpty}), {{0, 0}, kEmpty});
}

TEST(MergeStates, leaves_rows_alone_behind_the_tokens_that_there_are) {
  const auto device = make_cpu_device();
  RowState a{{5, -7}, 1}, b{{0, 0}, kEmpty}, to{{-1, -1}, -1};
  std::int32_t tokens = 0;
  const StatesToMerge states{a.view(), b.view(), to.view(), &tokens};
  merge_states_on_cpu(states, *device->make_stream());
  expect_near(to, {{-1, -1}, -1});
  tokens = 1;
  merge_states_on_cpu(states, *device->make_stream());
  expect_near(to, a);
}

TEST(MergeStates, divides_an_output_in_fp8_by_its_scale_and_rounds_once) {
  RowState a{{1, -1000}, 0}, b{{3, -1000}, std::log(3.0f)};
  std::byte out[2];
  RowState lse;
  AttentionState to = lse.view();
  to.out = TensorView::dense(out, DType::kE4M3, 1, 1, 2);
  to.out_scale = 0.3f;
  merge_states_on_cpu({a.view(), b.view(), to}, *make_cpu_device()->make_stream());
  EXPECT_EQ(load(DType::kE4M3, out), 8) << "2.5 / 0.3 is 8.33, between 8 and 9";
  EXPECT_EQ(load(DType::kE4M3, out + 1), -448) << "the largest";
}

TEST(MergeStates, does_not_overflow) {
  expect_near(merged({{1}, 1000}, {{3}, 1000}), {{2}, 1000 + std::log(2.0f)});
}

}  // namespace
}  // namespace attnbench
