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
      EXPECT_LT(*rows.rbegin() * kRingRowBytes, pool_write_inputs(c)[2].bytes);
    }
  }
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
