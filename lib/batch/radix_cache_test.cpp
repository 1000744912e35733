// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/radix_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<std::int64_t>;

TEST(RadixCache, finds_the_longest_stored_prefix) {
  RadixCache cache(1);
  EXPECT_EQ(cache.insert(Tokens{1, 2, 3, 4}, Tokens{11, 12, 13, 14}), 0);
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 4, 5}), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 9}), ElementsAre(11, 12));
  EXPECT_THAT(cache.match_prefix(Tokens{2, 3}), IsEmpty());
  EXPECT_THAT(cache.match_prefix(Tokens{}), IsEmpty());
}

TEST(RadixCache, splits_an_edge_where_sequences_part) {
  RadixCache cache(1);
  cache.insert(Tokens{1, 2, 3, 4}, Tokens{11, 12, 13, 14});
  EXPECT_EQ(cache.insert(Tokens{1, 2, 7}, Tokens{91, 92, 27}), 2);
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 4}), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 7}), ElementsAre(11, 12, 27));
}

TEST(RadixCache, keeps_the_old_slots_of_what_it_knows) {
  RadixCache cache(1);
  cache.insert(Tokens{1, 2}, Tokens{11, 12});
  EXPECT_EQ(cache.insert(Tokens{1, 2}, Tokens{21, 22}), 2);
  EXPECT_EQ(cache.insert(Tokens{1, 2, 3}, Tokens{21, 22, 23}), 2);
  EXPECT_EQ(cache.insert(Tokens{1}, Tokens{31}), 1);
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3}), ElementsAre(11, 12, 23));
}

TEST(RadixCache, shares_whole_pages_only) {
  RadixCache cache(4);
  EXPECT_EQ(cache.insert(Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9}, Tokens{4, 5, 6, 7, 8, 9, 10, 11, 12}),
            0);
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9}),
              ElementsAre(4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 4, 5, 6, 7}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 4, 5, 6, 0, 8}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 0}), IsEmpty());
  // Two continuations whose first pages begin alike are different pages.
  EXPECT_EQ(cache.insert(Tokens{1, 2, 3, 0}, Tokens{20, 21, 22, 23}), 0);
  EXPECT_THAT(cache.match_prefix(Tokens{1, 2, 3, 0}), ElementsAre(20, 21, 22, 23));
}

TEST(RadixCache, refuses_tokens_without_slots) {
  RadixCache cache(1);
  EXPECT_THROW(cache.insert(Tokens{1, 2}, Tokens{1}), InternalError);
  EXPECT_THROW(RadixCache(0), InternalError);
}

TEST(RadixCache, agrees_with_a_list_of_all_stored_prefixes) {
  for (const std::int64_t page_size : {1, 2, 4}) {
    RadixCache cache(page_size);
    std::map<Tokens, Tokens> stored;  // every stored prefix of whole pages
    std::mt19937 random(5);
    std::int64_t slot = 1;
    for (int step = 0; step < 300; ++step) {
      Tokens tokens(random() % 13);
      for (std::int64_t& token : tokens) token = random() % 2;
      Tokens known;
      for (std::size_t n = 0; n <= tokens.size(); n += static_cast<std::size_t>(page_size)) {
        const auto found = stored.find(Tokens(tokens.begin(), tokens.begin() + std::ptrdiff_t(n)));
        if (found != stored.end()) known = found->second;
      }
      ASSERT_EQ(cache.match_prefix(tokens), known) << "step " << step;

      Tokens slots = known;
      while (slots.size() < tokens.size()) slots.push_back(slot++);
      ASSERT_EQ(cache.insert(tokens, slots), static_cast<std::int64_t>(known.size()));
      for (std::size_t n = 0; n <= tokens.size(); n += static_cast<std::size_t>(page_size)) {
        const auto end = static_cast<std::ptrdiff_t>(n);
        stored.try_emplace(Tokens(tokens.begin(), tokens.begin() + end),
                           Tokens(slots.begin(), slots.begin() + end));
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
