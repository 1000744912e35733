// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/aa_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnbench {
namespace {

Registry::Entry entry(const std::string& name, bool present = true) {
  Registry::Entry e;
  e.info.name = name;
  if (present) {
    e.make = [] { return nullptr; };
  } else {
    e.absence = "no GPU";
  }
  return e;
}

TEST(AaPairs, set_a_second_beside_each_backend_that_is_present) {
  const Registry::Entry a = entry("a"), absent = entry("absent", false), b = entry("b");
  const std::vector<const Registry::Entry*> entries{&a, &absent, &b};
  AaPairs pairs;
  std::vector<std::string> names;
  for (const Registry::Entry* each : pairs.of(entries)) names.push_back(each->info.name);
  EXPECT_THAT(names, testing::ElementsAre("a", "a#2", "absent", "b", "b#2"));
}

TEST(AaPairs, are_registered_under_the_name_of_the_first) {
  EXPECT_EQ(registered_name("cpu_flash#2"), "cpu_flash");
  EXPECT_EQ(registered_name("cpu_flash"), "cpu_flash");
}

}  // namespace
}  // namespace attnbench
