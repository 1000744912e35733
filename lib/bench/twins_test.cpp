// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/twins.h"

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

TEST(Twins, stand_beside_their_backends_and_absent_ones_have_none) {
  const Registry::Entry a = entry("a"), absent = entry("absent", false), b = entry("b");
  const std::vector<const Registry::Entry*> entries{&a, &absent, &b};
  Twins twins;
  std::vector<std::string> names;
  for (const Registry::Entry* each : twins.beside(entries)) names.push_back(each->info.name);
  EXPECT_THAT(names, testing::ElementsAre("a", "a#2", "absent", "b", "b#2"));
}

TEST(Twins, are_registered_under_the_name_of_their_first) {
  EXPECT_EQ(registered_name("cpu_flash#2"), "cpu_flash");
  EXPECT_EQ(registered_name("cpu_flash"), "cpu_flash");
}

Record timed(const std::string& backend, double us) {
  Record r;
  r.case_id = "case";
  r.backend = backend;
  r.timed = true;
  r.timing.median_us = us;
  for (int round = 0; round < 12; ++round) r.timing.blocks.push_back({round, us});
  return r;
}

TEST(CompareTwin, sets_the_second_over_the_first) {
  std::vector<Record> records{timed("a", 100), timed("b", 1), timed("a#2", 102)};
  compare_twin(records);
  EXPECT_EQ(records[2].aa.pairs, 12);
  EXPECT_NEAR(records[2].aa.median, 1.02, 1e-9);
  EXPECT_EQ(records[0].aa.pairs, 0);
}

TEST(CompareTwin, looks_for_the_same_cell_only) {
  std::vector<Record> records{timed("a", 100), timed("a", 50), timed("a", 25), timed("a", 10),
                              timed("a#2", 100)};
  records[0].case_id = "another";
  records[1].cache = CacheState::kWarm;
  records[2].launch = LaunchMode::kGraph;
  records[3].verdict = Verdict::kIncorrect;
  compare_twin(records);
  EXPECT_EQ(records[4].aa.pairs, 0);
}

TEST(CompareTwin, says_nothing_of_cells_that_were_not_timed_or_are_no_twins) {
  std::vector<Record> records{timed("a", 100), timed("a#2", 100)};
  records[1].timed = false;
  compare_twin(records);
  EXPECT_EQ(records[1].aa.pairs, 0);
  records[1] = timed("b", 100);
  compare_twin(records);
  EXPECT_EQ(records[1].aa.pairs, 0);
  compare_twin({});
}

}  // namespace
}  // namespace attnbench
