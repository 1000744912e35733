// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

using Segments = std::vector<BatchSegment>;

Segments parsed(std::string_view text) {
  const auto result = parse_batch_string(text);
  if (const auto* error = std::get_if<BatchStringError>(&result)) {
    ADD_FAILURE() << text << ": " << error->message;
    return {};
  }
  return std::get<Segments>(result);
}

std::string refused(std::string_view text) {
  const auto result = parse_batch_string(text);
  if (const auto* error = std::get_if<BatchStringError>(&result)) return error->message;
  ADD_FAILURE() << text << " was accepted";
  return {};
}

TEST(BatchString, means_what_vllm_says_it_means) {
  EXPECT_EQ(parsed("q2k"), (Segments{{1, 2048, 2048}}));
  EXPECT_EQ(parsed("q1s1k"), (Segments{{1, 1, 1024}}));
  EXPECT_EQ(parsed("8q1s1k"), (Segments{{8, 1, 1024}}));
  EXPECT_EQ(parsed("16q4s1k"), (Segments{{16, 4, 1024}}));
  EXPECT_EQ(parsed("q1ks2k"), (Segments{{1, 1024, 2048}}));
  EXPECT_EQ(parsed("q1"), (Segments{{1, 1, 1}}));
  EXPECT_EQ(parsed("2q1ks4k_32q1s2k"), (Segments{{2, 1024, 4096}, {32, 1, 2048}}));
  EXPECT_EQ(parsed("2q1k_16q4s1k_16q1s1k"),
            (Segments{{2, 1024, 1024}, {16, 4, 1024}, {16, 1, 1024}}));
  EXPECT_EQ(parsed("32q1s16k_16q4s4k_2q1ks8k"),
            (Segments{{32, 1, 16384}, {16, 4, 4096}, {2, 1024, 8192}}));
  EXPECT_EQ(parsed("q257_7q1s1057_3q4s2051_2q129s4093"),
            (Segments{{1, 257, 257}, {7, 1, 1057}, {3, 4, 2051}, {2, 129, 4093}}));
}

TEST(BatchString, refuses_batches_that_would_vanish_from_vllm_s_statistics) {
  EXPECT_EQ(refused("q4ks1k"), "'q4ks1k': kv_len 1024 is shorter than q_len 4096");
  EXPECT_EQ(refused("0q1s1k"), "'0q1s1k' has no request");
  EXPECT_EQ(refused("q0"), "'q0' has no query token");
  EXPECT_EQ(refused("q1s0"), "'q1s0': kv_len 0 is shorter than q_len 1");
}

TEST(BatchString, names_the_new_form_for_the_old_one) {
  EXPECT_EQ(refused("q1kv1k"), "'q1kv1k' is vLLM's older batch syntax");
  EXPECT_EQ(refused("8s1k"), "unexpected 's' in segment '8s1k' of the batch string");
}

TEST(BatchString, refuses_what_python_s_dollar_would_let_through) {
  EXPECT_EQ(refused("q1s1k\n"), "unexpected '\\n' in segment 'q1s1k' of the batch string");
}

TEST(BatchString, refuses_other_letters_decimals_and_gaps) {
  EXPECT_EQ(refused("8Q1S1K"), "unexpected 'Q' in segment '8Q1S1K' of the batch string");
  EXPECT_EQ(refused("q1.5k"), "unexpected '.' in segment 'q1.5k' of the batch string");
  EXPECT_EQ(refused("q1m"), "unexpected 'm' in segment 'q1m' of the batch string");
  EXPECT_EQ(refused(""), "empty segment in batch string");
  EXPECT_EQ(refused("q1__q2"), "empty segment in batch string");
  EXPECT_EQ(refused("q1_"), "empty segment in batch string");
  EXPECT_EQ(refused("8"), "segment '8' of the batch string ends too early");
  EXPECT_EQ(refused("q"), "segment 'q' of the batch string ends too early");
  EXPECT_EQ(refused("q1s"), "segment 'q1s' of the batch string ends too early");
}

TEST(BatchString, refuses_sizes_beyond_32_bits) {
  EXPECT_EQ(refused("q1s2147483648"), "'q1s2147483648' is too large");
  EXPECT_EQ(refused("q1s99999999999999999999k"), "'q1s99999999999999999999k' is too large");
}

TEST(BatchString, points_at_the_place_of_the_mistake) {
  const auto result = parse_batch_string("q1s1k_8Q1");
  const auto& error = std::get<BatchStringError>(result);
  EXPECT_EQ(error.offset, 7u);
  EXPECT_EQ(error.length, 1u);
}

}  // namespace
}  // namespace attnbench
