// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/forward_mode.h"

#include <gtest/gtest.h>

#include <set>

namespace attnbench {
namespace {

constexpr ForwardMode kAllModes[] = {ForwardMode::kExtend,       ForwardMode::kDecode,
                                     ForwardMode::kMixed,        ForwardMode::kIdle,
                                     ForwardMode::kTargetVerify, ForwardMode::kDraftExtend,
                                     ForwardMode::kSplitPrefill, ForwardMode::kDraftExtendV2};

template <class Predicate>
std::set<ForwardMode> modes_that(const Predicate& holds) {
  std::set<ForwardMode> modes;
  for (const ForwardMode mode : kAllModes) {
    if (holds(mode)) modes.insert(mode);
  }
  return modes;
}

using Modes = std::set<ForwardMode>;

TEST(ForwardMode, is_a_decode_or_an_extend_as_in_sglang) {
  EXPECT_EQ(modes_that(is_decode_or_idle), (Modes{ForwardMode::kDecode, ForwardMode::kIdle}));
  EXPECT_EQ(modes_that([](ForwardMode mode) { return is_extend(mode); }),
            (Modes{ForwardMode::kExtend, ForwardMode::kMixed, ForwardMode::kTargetVerify,
                   ForwardMode::kSplitPrefill, ForwardMode::kDraftExtend}));
  EXPECT_FALSE(is_extend(ForwardMode::kDraftExtendV2));
  EXPECT_TRUE(is_extend(ForwardMode::kDraftExtendV2, true)) << "where the caller includes it";
}

TEST(ForwardMode, has_the_lengths_of_an_extend_unless_a_tree_has_them) {
  EXPECT_EQ(modes_that(has_extend_lens),
            (Modes{ForwardMode::kExtend, ForwardMode::kMixed, ForwardMode::kSplitPrefill,
                   ForwardMode::kDraftExtend, ForwardMode::kDraftExtendV2}));
}

TEST(ForwardMode, is_recorded_as_a_graph_where_all_requests_have_as_many_queries) {
  EXPECT_EQ(modes_that(is_cuda_graph),
            (Modes{ForwardMode::kDecode, ForwardMode::kIdle, ForwardMode::kTargetVerify}));
}

TEST(ForwardMode, has_a_word_of_its_own) {
  std::set<std::string_view> words;
  for (const ForwardMode mode : kAllModes) EXPECT_TRUE(words.insert(to_string(mode)).second);
  EXPECT_FALSE(words.contains("?"));
}

}  // namespace
}  // namespace attnbench
