// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/phase.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(Phase, follows_sglangs_rule_in_both_speculative_attention_modes) {
  for (const Phase mode : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_EQ(phase_of(ForwardMode::kDecode, mode), Phase::kDecode);
    EXPECT_EQ(phase_of(ForwardMode::kIdle, mode), Phase::kDecode);
    EXPECT_EQ(phase_of(ForwardMode::kTargetVerify, mode), mode);
    EXPECT_EQ(phase_of(ForwardMode::kExtend, mode), Phase::kPrefill);
    EXPECT_EQ(phase_of(ForwardMode::kDraftExtend, mode), Phase::kPrefill);
  }
}

TEST(Phase, of_a_mixed_step_is_that_of_each_request) {
  EXPECT_EQ(phase_of(ForwardMode::kMixed, Phase::kPrefill), std::nullopt);
  EXPECT_EQ(phase_of_request(1), Phase::kDecode);
  EXPECT_EQ(phase_of_request(2), Phase::kPrefill);
}

}  // namespace
}  // namespace attnbench
