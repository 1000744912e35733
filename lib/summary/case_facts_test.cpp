// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/case_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attnbench {
namespace {

Record used(const std::string& backend, double us) {
  Record record;
  record.backend = backend;
  record.first_use_us = us;
  return record;
}

TEST(FirstUse, is_told_of_backends_that_took_a_second_or_more) {
  const std::vector<Record> records = {used("a", 1.31e6), used("b", 0.99e6), used("c", 42e6)};
  EXPECT_EQ(first_use_text(records), "a 1.31 s, c 42 s");
}

TEST(FirstUse, is_told_once_of_a_backend_with_several_cells) {
  const std::vector<Record> records = {used("a", 2e6), used("a", 2e6)};
  EXPECT_EQ(first_use_text(records), "a 2 s");
}

TEST(FirstUse, is_not_told_where_all_were_quick) {
  EXPECT_EQ(first_use_text(std::vector<Record>{used("a", 900)}), "");
}

}  // namespace
}  // namespace attnbench
