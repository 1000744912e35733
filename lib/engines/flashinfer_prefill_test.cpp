// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/flashinfer_prefill.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

using enum PrefillPath;

TEST(DecidePrefill, reads_new_keys_as_they_come_and_prefixes_by_pages) {
  EXPECT_EQ(decide_prefill({.some_prefix = false}).path, kRagged);
  EXPECT_EQ(decide_prefill({.some_prefix = true}).path, kRaggedPaged);
}

TEST(DecidePrefill, reads_pages_alone_where_ragged_keys_do_not_do) {
  for (const bool prefix : {false, true}) {
    EXPECT_EQ(decide_prefill({.some_prefix = prefix, .is_multimodal = true}).path, kPaged);
    EXPECT_EQ(decide_prefill({.some_prefix = prefix, .scores_items = true}).path, kPaged);
    EXPECT_EQ(decide_prefill({.some_prefix = prefix, .is_deterministic = true}).path, kPaged);
  }
}

TEST(DecidePrefill, merges_nothing_for_mla) {
  EXPECT_EQ(decide_prefill({.some_prefix = false, .is_mla = true}).path, kRagged);
  EXPECT_EQ(decide_prefill({.some_prefix = true, .is_mla = true}).path, kPaged);
  EXPECT_EQ(decide_prefill({.is_mla = true, .is_deterministic = true}).path, kRagged);
}

TEST(DecidePrefill, names_the_clause_that_decided) {
  EXPECT_EQ(decide_prefill({.some_prefix = true}).reason, "some request has a prefix");
  EXPECT_EQ(decide_prefill({.is_deterministic = true}).reason, "deterministic inference");
  EXPECT_EQ(to_string(kRaggedPaged), "ragged_paged");
}

}  // namespace
}  // namespace attnbench
