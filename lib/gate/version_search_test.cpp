// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/version_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A package whose versions 0, 1, 2 … are measured without noise.
struct Package {
  /// What a version does to the record of a backend, which takes 100 us.
  std::map<std::string, std::function<void(int version, Record&)>> backends;
  std::set<std::size_t> broken{};  ///< versions that do not install
  std::size_t stop_at = 1000;      ///< comparisons
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> compared{};
  std::vector<bool> with_times{};

  [[nodiscard]] RunResult measured(std::size_t version) const {
    RunResult run = measured_run({});
    for (const auto& [name, change] : backends) {
      Record record = measured_cell("decode", name, 100);
      change(static_cast<int>(version), record);
      record.timing.blocks.clear();
      run.records.push_back(record);
    }
    return run;
  }

  GateReport compare(std::size_t base, std::size_t now, const std::vector<CellKey>& cells,
                     bool times) {
    std::string names;
    for (const CellKey& cell : cells) names += (names.empty() ? "" : " ") + cell.backend;
    compared.emplace_back(base, now, names);
    with_times.push_back(times);
    RunResult before = measured(base), after = measured(now);
    CellPairs pairs;
    for (std::size_t i = 0; i < before.records.size(); ++i) {
      const TimedPair pair{before.records[i].timing.median_us, after.records[i].timing.median_us};
      pairs.emplace(CellKey(before.records[i]), std::vector<TimedPair>(8, pair));
    }
    GateReport report = compare_pairs(before, after, pairs, {});
    std::erase_if(report.cells, [&](const Comparison& each) {
      return !cells.empty() && std::ranges::find(cells, each.cell) == cells.end();
    });
    return report;
  }

  VersionSearch search(std::size_t versions) {
    VersionSearch search{.package = "engine", .versions = {}};
    for (std::size_t i = 0; i < versions; ++i) search.versions.push_back(fmt::format("1.{}", i));
    search_versions(
        {.install = [&](std::size_t version) { return broken.contains(version) ? "no wheel" : ""; },
         .compare = [&](std::size_t base, std::size_t now, const std::vector<CellKey>& cells,
                        bool times) { return compare(base, now, cells, times); },
         .stop_requested = [&] { return compared.size() >= stop_at; }},
        search);
    return search;
  }
};

std::function<void(int, Record&)> slower_from(int first, double factor = 1.2) {
  return [=](int version, Record& record) {
    if (version >= first) record.timing.median_us *= factor;
  };
}

std::string text_of(const VersionSearch& search) {
  std::ostringstream out;
  write_versions_terminal(search, {.width = 200}, 1, out);
  return out.str();
}

Json json_of(const VersionSearch& search) {
  std::ostringstream out;
  write_versions_json(search, 1, out);
  return Json::parse(out.str());
}

TEST(VersionSearch, names_the_version_wherever_it_is) {
  for (std::size_t versions = 2; versions < 12; ++versions) {
    for (std::size_t first = 1; first < versions; ++first) {
      Package package{.backends = {{"a", slower_from(static_cast<int>(first))}}};
      const VersionSearch found = package.search(versions);
      ASSERT_EQ(found.changes.size(), 1u);
      EXPECT_EQ(found.changes[0].by, first) << versions;
      EXPECT_EQ(found.changes[0].after, first - 1) << versions;
      EXPECT_LE(found.comparisons, 5) << versions;  // of the ends, and log2 of 11
    }
  }
}

TEST(VersionSearch, finds_what_is_wrong_mended_faster_new_and_gone) {
  Package package{.backends = {{"faster", slower_from(1, 0.8)},
                               {"gone",
                                [](int version, Record& record) {
                                  if (version >= 4) record.outcome = Unsupported{"no pages of 16"};
                                }},
                               {"mended",
                                [](int version, Record& record) {
                                  if (version < 3) record.outcome = Incorrect{"3 NaN", true};
                                }},
                               {"new",
                                [](int version, Record& record) {
                                  if (version < 5) record.outcome = Unsupported{"needs 1.5"};
                                }},
                               {"wrong", [](int version, Record& record) {
                                  if (version >= 2) record.outcome = Incorrect{"5 of 9 rows", true};
                                  if (version == 1) record.timing.median_us = 300;
                                }}}};
  std::map<std::string, std::size_t> by;
  for (const VersionChange& each : package.search(7).changes) {
    by[each.ends.cell.backend] = each.by;
    EXPECT_EQ(each.after + 1, each.by);
    EXPECT_EQ(each.seen.judgement.verdict, each.ends.judgement.verdict);
  }
  EXPECT_EQ(by, (std::map<std::string, std::size_t>{
                    {"faster", 1}, {"gone", 4}, {"mended", 3}, {"new", 5}, {"wrong", 2}}));
}

TEST(VersionSearch, shares_a_comparison_among_cells_that_stand_at_the_same_versions) {
  Package package{.backends = {{"a", slower_from(1)},
                               {"b", slower_from(1)},
                               {"c", slower_from(3)},
                               {"same", slower_from(99)}}};
  const VersionSearch found = package.search(4);
  EXPECT_THAT(package.compared,
              ElementsAre(std::tuple(0, 3, ""), std::tuple(0, 1, "a b c"), std::tuple(1, 2, "c")));
  EXPECT_THAT(text_of(found), HasSubstr("\n3 cells changed · 1 without a change · 3 comparisons"));
}

TEST(VersionSearch, asks_for_no_times_where_only_a_kernel_is_in_question) {
  Package package{.backends = {{"a", [](int version, Record& record) {
                                  record.kernel = version < 2 ? "fa3" : "fa2";
                                }}}};
  const VersionSearch found = package.search(4);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(found.changes[0].by, 2u);
  EXPECT_THAT(package.with_times, ElementsAre(true, false, false));
  EXPECT_THAT(text_of(found), testing::ContainsRegex("\n1\\.2 +1\\.1 .* another kernel"));
}

TEST(VersionSearch, tells_a_kernel_beside_the_time_that_changed_with_it_and_apart_from_another) {
  const auto kernel_from = [](int first) {
    return [first](int version, Record& record) {
      slower_from(2)(version, record);
      record.kernel = version < first ? "fa3" : "fa2";
    };
  };
  Package together{.backends = {{"a", kernel_from(2)}}};
  const std::string text = text_of(together.search(4));
  EXPECT_THAT(text, testing::ContainsRegex("\n1\\.2 +1\\.1 .* REGRESSED\n.*kernel: fa3 → fa2\n"));
  EXPECT_THAT(text, Not(HasSubstr("another kernel")));
  Package apart{.backends = {{"a", kernel_from(3)}}};
  EXPECT_THAT(
      text_of(apart.search(4)),
      testing::ContainsRegex("\n1\\.2 +1\\.1 .* REGRESSED\n.*\n1\\.3 +1\\.2 .* another kernel"));
}

TEST(VersionSearch, takes_a_neighbour_of_a_version_that_does_not_install) {
  Package package{.backends = {{"a", slower_from(1)}}, .broken = {2}};
  const VersionSearch found = package.search(5);
  EXPECT_EQ(found.changes[0].by, 1u);
  EXPECT_EQ(found.changes[0].after, 0u);
  EXPECT_THAT(text_of(found), HasSubstr("note: 1.2 was skipped: no wheel\n"));
  EXPECT_EQ(json_of(found)["skipped"][0]["reason"], "no wheel");
}

TEST(VersionSearch, names_all_that_may_have_made_a_change) {
  Package package{.backends = {{"a",
                                [](int version, Record& record) {
                                  slower_from(2)(version, record);
                                  if (version == 2) record.outcome = Incorrect{"3 NaN", true};
                                }},
                               {"b", slower_from(3)}},
                  .broken = {1}};
  const VersionSearch found = package.search(4);
  const std::string text = text_of(found);
  EXPECT_THAT(text, HasSubstr("\n1.1 … 1.3   1.0"));
  EXPECT_THAT(text, HasSubstr("    1.1 does not tell: no wheel\n"));
  EXPECT_THAT(text, HasSubstr("    1.2 does not tell: INCORRECT: INCORRECT: 3 NaN\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n1\\.3 +1\\.2 +b "));
  const Json change = json_of(found)["cells"][0]["changes"][0];
  EXPECT_EQ(change["changed_by"], "1.3");
  EXPECT_EQ(change["may_be_by"].size(), 2u);
  Package ends{.backends = {{"a", slower_from(2)}}, .broken = {0}};
  EXPECT_THROW(static_cast<void>(ends.search(3)), EnvironmentError);
}

TEST(VersionSearch, says_where_other_versions_changed_the_cell_as_well) {
  Package package{.backends = {{"a", [](int version, Record& record) {
                                  slower_from(1, 1.1)(version, record);
                                  slower_from(3, 1.2)(version, record);
                                }}}};
  const VersionSearch found = package.search(4);
  EXPECT_EQ(found.changes[0].by, 1u);
  EXPECT_THAT(text_of(found),
              testing::ContainsRegex("\\+10\\.0 %.*REGRESSED\n.*\\+32\\.0 %.* "
                                     "between the ends: other versions changed it"));
}

TEST(VersionSearch, takes_nothing_that_was_wrong_before_for_a_change) {
  Package package{.backends = {{"a", [](int, Record& record) {
                                  record.outcome = Incorrect{"3 NaN", true};
                                }}}};
  const VersionSearch found = package.search(5);
  EXPECT_TRUE(found.changes.empty());
  EXPECT_EQ(found.comparisons, 1);
}

TEST(VersionSearch, takes_no_cell_that_was_wrong_for_once_for_one_that_became_faster) {
  int measured = 0;
  Package package{.backends = {{"a", [&](int version, Record& record) {
                                  slower_from(4, 0.8)(version, record);
                                  const bool behind_the_ends = ++measured > 2;
                                  if (behind_the_ends && version == 0) {
                                    record.outcome = Incorrect{"3 NaN", true};
                                  }
                                }}}};
  const VersionSearch found = package.search(5);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(found.changes[0].ends.judgement.verdict, GateVerdict::kImproved);
  EXPECT_EQ(found.changes[0].after, 0u);
  EXPECT_EQ(found.changes[0].by, 4u) << "a mended version is no answer to a question of time";
  EXPECT_EQ(found.changes[0].untold.size(), 3u);
}

TEST(VersionSearch, counts_what_is_undecided_apart_from_what_is_the_same) {
  Package package{.backends = {{"open", [](int, Record& record) { record.timing.median_us = 0; }},
                               {"same", slower_from(99)}}};
  EXPECT_THAT(text_of(package.search(3)),
              HasSubstr("\n0 cells changed · 1 without a change · 1 undecided · 1 comparison"));
}

TEST(VersionSearch, tells_what_is_known_when_it_is_stopped) {
  Package package{.backends = {{"a", slower_from(1)}}, .stop_at = 3};
  const VersionSearch found = package.search(9);
  EXPECT_TRUE(found.interrupted);
  EXPECT_EQ(found.changes[0].by,
            4u);  // by the second comparison, of 0 and 4; the third counts for nothing
  const std::string text = text_of(found);
  EXPECT_THAT(text, HasSubstr("\n1.1 … 1.4   1.0"));
  EXPECT_THAT(text, HasSubstr(" · interrupted · "));
  EXPECT_EQ(json_of(found)["interrupted"], true);
}

TEST(VersionSearch, keeps_what_is_known_when_the_disk_is_full) {
  Package package{.backends = {{"a", slower_from(1)}}};
  VersionSearch search{.package = "engine", .versions = {"1.0", "1.1", "1.2"}};
  search_versions({.install = [](std::size_t version) -> std::string {
                     if (version == 1) throw EnvironmentError("no space left");
                     return "";
                   },
                   .compare = [&](std::size_t base, std::size_t now, const auto& cells,
                                  bool times) { return package.compare(base, now, cells, times); },
                   .stop_requested = [] { return false; }},
                  search);
  EXPECT_EQ(search.trouble, "no space left");
  EXPECT_EQ(search.changes.size(), 1u);
  EXPECT_THAT(text_of(search), HasSubstr("note: the search ended early: no space left\n"));
}

}  // namespace
}  // namespace attnbench
