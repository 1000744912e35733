// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/sample_draws.h"

#include <gtest/gtest.h>

#include <set>

namespace attnbench {
namespace {

TEST(OneOfEach, draws_one_of_each_part_and_knows_which) {
  for (const std::int64_t count : {1, 2, 7, 16, 17, 1000}) {
    const OneOfEach drawn(5, count, 16);
    EXPECT_EQ(drawn.parts(), std::min<std::int64_t>(count, 16));
    std::set<std::int64_t> all;
    for (std::int64_t part = 0; part < drawn.parts(); ++part) {
      EXPECT_GE(drawn.of_part(part), count * part / drawn.parts());
      EXPECT_LT(drawn.of_part(part), count * (part + 1) / drawn.parts());
      all.insert(drawn.of_part(part));
    }
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(drawn.has(i), all.contains(i)) << i;
  }
}

TEST(OneOfEach, draws_others_with_another_seed) {
  std::set<std::int64_t> all;
  for (std::uint64_t seed = 0; seed < 200; ++seed) all.insert(OneOfEach(seed, 10, 1).of_part(0));
  EXPECT_EQ(all.size(), 10u);
}

TEST(OneOfEach, has_no_part_of_nothing) { EXPECT_EQ(OneOfEach(5, 0, 16).parts(), 0); }

TEST(Secret, is_another_one_of_each_fill_number_and_nonce) {
  Case c;
  c.layer = {.heads_q = 1, .heads_kv = 1, .head_dim_qk = 64, .head_dim_v = 64, .scale = 0.1};
  c.requests = {{.q_len = 1, .kv_len = 9}};
  std::set<std::uint64_t> all;
  for (const std::uint64_t nonce : {0u, 1u, 2u}) {
    set_sample_nonce(c, nonce);
    for (const std::int64_t number : {1, 2}) all.insert(Contents(c, number).secret());
    for (const Fill fill : {Fill::kNormal, Fill::kTiming}) all.insert(Contents(c, fill).secret());
  }
  EXPECT_EQ(all.size(), 12u);
}

}  // namespace
}  // namespace attnbench
