// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/pool_write_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace attnbench {
namespace {

/// A step of one request, in pools of 16.
Case pools_of(ForwardMode mode, std::int64_t kv_len, std::int64_t q_len) {
  Case c;
  c.mode = mode;
  c.layer.head_dim_qk = 512;
  c.layer.selection = {.topk = 16, .unit = 16};
  c.requests.resize(1);
  c.requests[0].kv_len = kv_len;
  c.requests[0].q_len = q_len;
  return c;
}
NewPoolKeys keys_of(const Case& c) { return new_pool_keys(c, c.requests[0]); }

TEST(NewPoolKeys, wait_for_the_last_of_their_pool) {
  const NewPoolKeys open = keys_of(pools_of(ForwardMode::kDecode, 47, 1));
  EXPECT_EQ(open.closed_pools(), 0);
  EXPECT_TRUE(open.waits(46));
  EXPECT_EQ(open.waiting(), 14);
  const NewPoolKeys closed = keys_of(pools_of(ForwardMode::kDecode, 48, 1));
  EXPECT_TRUE(closed.closes(47));
  EXPECT_EQ(closed.closed_pools(), 1);
  EXPECT_FALSE(closed.waits(47));
  EXPECT_EQ(closed.waiting(), 15);
}

TEST(NewPoolKeys, of_a_prompt_need_not_wait_but_for_the_open_pool) {
  const NewPoolKeys keys = keys_of(pools_of(ForwardMode::kExtend, 105, 85));
  EXPECT_EQ(keys.closed_pools(), 5);
  EXPECT_EQ(keys.first_waiting, 96);
  EXPECT_EQ(keys.waiting(), 4);
  EXPECT_EQ(keys_of(pools_of(ForwardMode::kExtend, 4, 9)).first, 0) << "queries before key 0";
}

TEST(NewPoolKeys, of_drafts_wait_where_a_rejected_one_opens_a_pool_again) {
  // The first of 4, at 29, is accepted: the pool from 16 on is open whatever else is.
  EXPECT_EQ(keys_of(pools_of(ForwardMode::kTargetVerify, 33, 4)).first_waiting, 29);
  // At 31 it closes that pool for good.
  EXPECT_EQ(keys_of(pools_of(ForwardMode::kTargetVerify, 35, 4)).first_waiting, 32);
  EXPECT_EQ(keys_of(pools_of(ForwardMode::kTargetVerify, 35, 4)).closed_pools(), 1);
}

TEST(RingRow, is_no_other_tokens_be_it_new_or_waiting) {
  for (const ForwardMode mode : {ForwardMode::kExtend, ForwardMode::kTargetVerify}) {
    for (std::int64_t kv_len = 40; kv_len < 140; ++kv_len) {
      Case c = pools_of(mode, kv_len, 37);
      c.requests.push_back(c.requests[0]);
      std::set<std::int64_t> rows;
      std::int64_t tokens = 0;
      for (std::int64_t r = 0; r < 2; ++r) {
        const NewPoolKeys keys = keys_of(c);
        for (std::int64_t at = keys.first - keys.waiting(); at < kv_len; ++at) {
          if (at >= keys.first && !keys.waits(at)) continue;
          const std::int64_t row = ring_row(c, r, at);
          EXPECT_EQ(row % 16, at % 16) << "a pool lies in one block";
          EXPECT_GE(row, 16) << "the first is nobody's";
          rows.insert(row);
          ++tokens;
        }
      }
      EXPECT_EQ(std::ssize(rows), tokens) << kv_len;
      EXPECT_LT(*rows.rbegin() * pool_shape(c).ring_row_bytes(), pool_write_inputs(c)[2].bytes);
    }
  }
}

TEST(RingRow, of_pools_that_overlap_lies_behind_those_of_the_pool_before) {
  for (std::int64_t kv_len = 20; kv_len < 60; ++kv_len) {
    Case c = pools_of(ForwardMode::kTargetVerify, kv_len, 9);
    c.layer.compress_ratio = 4;
    c.step = StepPart::kCompress;
    const NewPoolKeys keys = keys_of(c);
    const std::int64_t oldest = keys.first - keys.waiting();
    EXPECT_EQ(oldest, (keys.first / 4 - 1) * 4);
    std::set<std::int64_t> rows;
    for (std::int64_t at = oldest; at < kv_len; ++at) {
      if (at < keys.first) {
        EXPECT_EQ(ring_row(c, 0, at) - ring_row(c, 0, oldest), at - oldest);
      }
      if (at < keys.first || keys.waits(at)) {
        EXPECT_TRUE(rows.insert(ring_row(c, 0, at)).second) << at << " of " << kv_len;
      }
    }
    EXPECT_LT(*rows.rbegin() * pool_shape(c).ring_row_bytes(), pool_write_inputs(c)[2].bytes);
  }
}

TEST(NewPoolKeys, that_overlap_wait_for_the_pool_behind_theirs) {
  Case c = pools_of(ForwardMode::kExtend, 30, 21);
  c.layer.compress_ratio = 4;
  c.step = StepPart::kCompress;
  EXPECT_EQ(keys_of(c).first_waiting, 24) << "28 and 29 are of the open row, 24 to 27 before it";
  EXPECT_EQ(keys_of(c).waiting(), 5) << "4 to 8";
  EXPECT_EQ(pool_shape(c).ring_row_bytes(), 2 * 2 * pool_shape(c).dims * 4);
  c.requests[0].q_len = 30;
  EXPECT_EQ(keys_of(c).waiting(), 0);
}

TEST(PoolShape, of_deepseek_v4_has_states_in_f32) {
  Case c = pools_of(ForwardMode::kDecode, 30, 1);
  c.step = StepPart::kCompress;
  c.layer.compress_ratio = 4;
  EXPECT_EQ(pool_shape(c).ring_row_bytes(), 8192);
  EXPECT_EQ(pool_shape(c).members(), 8);
  c.layer.compress_ratio = 128;
  EXPECT_EQ(pool_shape(c).ring_row_bytes(), 4096);
  EXPECT_EQ(pool_shape(c).members(), 128);
  c.step = StepPart::kIndexWrite;
  c.layer.selection = {.topk = 4, .unit = 4, .compressed = true};
  EXPECT_EQ(pool_shape(c).ring_row_bytes(), 2048);
}

TEST(PoolWriteInputs, have_the_bytes_that_are_asked_for_beforehand) {
  const Case c = pools_of(ForwardMode::kExtend, 105, 85);
  std::int64_t bytes = 0;
  const auto inputs = pool_write_inputs(c);
  for (const PartInput& each : inputs) bytes += each.bytes;
  EXPECT_EQ(bytes, pool_write_input_bytes(c));
  EXPECT_EQ(inputs.size(), kPoolWriteInputs);
}

}  // namespace
}  // namespace attnbench
