// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/ab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/error.h"
#include "lib/gate/ab_process.h"
#include "lib/gate/gate_sinks.h"
#include "lib/gate/testing/measured_run.h"

namespace attnbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Pretends to be two programs on a machine whose speed wanders.
struct Programs {
  double ratio = 1;  ///< of the new one's times
  int calls = 0;
  std::vector<AbSide> order{};
  std::vector<bool> verified{};
  std::vector<std::vector<CellKey>> asked{};
  /// May change what a process measures; the number counts processes of the side from 1.
  std::function<void(AbSide, int, AbMeasurement&)> change{};
  std::map<AbSide, int> processes{};
  std::mt19937 random{7};
  double noise = 0.002;

  AbMeasurement operator()(AbSide side, bool verify, const std::vector<CellKey>& cells) {
    ++calls;
    order.push_back(side);
    verified.push_back(verify);
    asked.push_back(cells);
    AbMeasurement measured;
    const double weather = std::exp(std::normal_distribution<double>(0, noise)(random));
    const double slower = side == AbSide::kNew ? ratio : 1;
    measured.run = measured_run({measured_cell("decode", "splitkv", 100 * weather * slower),
                                 measured_cell("prefill", "splitkv", 300 * weather)});
    for (Record& record : measured.run.records) {
      record.timing.rounds = 1;
      record.timing.lo_us = record.timing.hi_us = 0;
      if (!verify) record.outcome = Completed{Check::kNotVerified, Speed::kClaimed};
    }
    if (change) change(side, ++processes[side], measured);
    return measured;
  }
};

GateReport ab_of(Programs& programs, const AbConfig& config = {}, const AbHooks& hooks = {}) {
  return run_ab([&](AbSide side, bool verify,
                    const std::vector<CellKey>& cells) { return programs(side, verify, cells); },
                config, hooks);
}

Judgement judgement_of(const GateReport& report, const std::string& case_id) {
  return std::ranges::find_if(report.cells,
                              [&](const Comparison& each) { return each.cell.case_id == case_id; })
      ->judgement;
}

TEST(Ab, finds_a_planted_slowdown_and_leaves_its_neighbour_alone) {
  Programs programs{.ratio = 1.03};
  const GateReport report = ab_of(programs);
  EXPECT_EQ(programs.calls, 40);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kRegressed);
  EXPECT_EQ(judgement_of(report, "prefill").verdict, GateVerdict::kSame);
  EXPECT_EQ(report.cells[0].speed->pairs, 20);
  EXPECT_TRUE(report.confirmed);
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kRegression);
}

TEST(Ab, says_same_of_a_program_and_itself) {
  Programs programs;
  EXPECT_EQ(exit_code_of(ab_of(programs), true), ExitCode::kOk);
}

TEST(Ab, checks_the_outputs_in_the_first_process_of_each_side_and_tosses_a_seeded_coin) {
  Programs programs, again, other;
  (void)ab_of(programs);
  EXPECT_EQ(std::ranges::count(programs.verified, true), 2);
  EXPECT_TRUE(programs.verified[0] && programs.verified[1]);
  int base_first = 0;
  for (std::size_t i = 0; i < programs.order.size(); i += 2) {
    EXPECT_NE(programs.order[i], programs.order[i + 1]);
    base_first += programs.order[i] == AbSide::kBase ? 1 : 0;
  }
  EXPECT_GT(base_first, 4);
  EXPECT_LT(base_first, 16);
  (void)ab_of(again);
  EXPECT_EQ(programs.order, again.order);
  (void)ab_of(other, {.seed = 1});
  EXPECT_NE(programs.order, other.order);
}

TEST(Ab, measures_what_is_open_once_more_and_judges_the_new_pairs_alone) {
  Programs programs{.noise = 0.002};
  // The first 20 pairs of decode are a mess, the 30 new ones are equal.
  programs.change = [](AbSide side, int process, AbMeasurement& measured) {
    if (side == AbSide::kNew && process <= 20 && process % 2 == 0) {
      measured.run.records[0].timing.median_us *= 1.2;
    }
  };
  const GateReport report = ab_of(programs);
  EXPECT_EQ(programs.calls, 100);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kSame);
  EXPECT_THAT(report.remarks, Contains(HasSubstr("1 cell was open after 20 pairs")));
  ASSERT_EQ(programs.asked.back().size(), 1u);
  EXPECT_EQ(programs.asked.back()[0].case_id, "decode");
}

TEST(Ab, calls_a_wrong_result_incorrect_whichever_process_showed_it) {
  for (const int when : {1, 7}) {
    Programs programs;
    programs.change = [&](AbSide side, int process, AbMeasurement& measured) {
      if (side == AbSide::kNew && process == when) {
        measured.run.records[0].outcome = Incorrect{"3 NaN", true};
      }
    };
    const GateReport report = ab_of(programs);
    EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kIncorrect) << when;
    EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect);
  }
}

TEST(Ab, calls_a_result_incorrect_that_turns_wrong_while_others_are_measured_again) {
  Programs programs;
  programs.change = [](AbSide side, int process, AbMeasurement& measured) {
    if (side == AbSide::kBase) return;
    if (process <= 20 && process % 2 == 0) measured.run.records[0].timing.median_us *= 1.2;
    if (process == 25) measured.run.records[1].outcome = Incorrect{"3 NaN", true};
  };
  EXPECT_EQ(judgement_of(ab_of(programs), "prefill").verdict, GateVerdict::kIncorrect);
}

TEST(Ab, calls_a_time_impossible_where_the_checked_process_and_half_of_the_pairs_do) {
  const auto verdict_where = [](const std::function<bool(int process)>& impossible) {
    Programs programs;
    programs.change = [&](AbSide side, int process, AbMeasurement& measured) {
      if (side == AbSide::kBase) return;
      measured.run.records[0].timing.median_us *= 1.1;
      if (impossible(process)) {
        measured.run.records[0].outcome = Completed{Check::kPassed, Speed::kImpossible};
      }
    };
    return judgement_of(ab_of(programs), "decode").verdict;
  };
  EXPECT_EQ(verdict_where([](int) { return true; }), GateVerdict::kIncorrect);
  EXPECT_EQ(verdict_where([](int process) { return process == 1; }), GateVerdict::kRegressed);
  EXPECT_EQ(verdict_where([](int process) { return process > 1; }), GateVerdict::kRegressed);
}

TEST(Ab, takes_a_crash_of_the_new_program_for_a_verdict_and_goes_on) {
  Programs programs;
  programs.change = [](AbSide side, int process, AbMeasurement& measured) {
    if (side == AbSide::kNew && process == 5) {
      measured = {{}, "was killed by signal 11 (SIGSEGV)", true};
    }
  };
  const GateReport report = ab_of(programs);
  EXPECT_EQ(programs.calls, 40);
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect);
  EXPECT_THAT(judgement_of(report, "decode").reason, HasSubstr("SIGSEGV) in pair 5"));
}

TEST(Ab, of_a_program_that_the_machine_can_never_run_gives_no_verdict_on_its_speed) {
  for (const AbSide broken : {AbSide::kBase, AbSide::kNew}) {
    Programs programs;
    programs.change = [&](AbSide side, int, AbMeasurement& measured) {
      if (side == broken) measured = {{}, "exited with code 5: error: no memory", false};
    };
    const GateReport report = ab_of(programs);
    const bool is_new = broken == AbSide::kNew;
    EXPECT_EQ(judgement_of(report, "decode").verdict,
              is_new ? GateVerdict::kNotComparable : GateVerdict::kNoVerdict);
    EXPECT_EQ(exit_code_of(report, false), is_new ? ExitCode::kEnvironment : ExitCode::kOk);
    EXPECT_THAT(judgement_of(report, "decode").reason, HasSubstr("no memory"));
  }
  Programs programs;
  programs.change = [](AbSide, int, AbMeasurement& measured) {
    measured = {{}, "was killed by signal 9 (SIGKILL)", true};
  };
  EXPECT_EQ(exit_code_of(ab_of(programs), false), ExitCode::kIncorrect);
}

TEST(Ab, that_loses_pairs_to_failures_judges_the_others) {
  Programs programs{.ratio = 1.05};
  programs.change = [](AbSide side, int process, AbMeasurement& measured) {
    if (side == AbSide::kBase && process % 3 == 0) measured = {{}, "exited with code 5", false};
  };
  const GateReport report = ab_of(programs);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kRegressed);
  EXPECT_EQ(report.cells[0].speed->pairs, 14);
  EXPECT_THAT(report.remarks, Contains(HasSubstr("the base program exited with code 5")));
}

TEST(Ab, begins_no_pair_after_one_in_which_a_process_hung) {
  const auto hangs_in = [](AbSide hanging, int when, Programs& programs) {
    programs.change = [=](AbSide side, int process, AbMeasurement& measured) {
      if (side == hanging && process == when) measured = {{}, "had not ended", true, true};
    };
  };
  Programs now;
  hangs_in(AbSide::kNew, 5, now);
  GateReport report = ab_of(now);
  EXPECT_EQ(now.calls, 10);
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect);
  EXPECT_EQ(judgement_of(report, "decode").reason, "the new program had not ended in pair 5");
  EXPECT_THAT(report.remarks, Contains("no pair was begun after pair 5"));
  EXPECT_FALSE(report.interrupted);

  Programs first;
  hangs_in(AbSide::kBase, 1, first);
  report = ab_of(first);
  EXPECT_EQ(first.calls, 2);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kNoVerdict);
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kInconclusive);

  Programs base{.ratio = 1.05};
  hangs_in(AbSide::kBase, 13, base);
  report = ab_of(base);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kRegressed);
  EXPECT_EQ(report.cells[0].speed->pairs, 12) << "what is known is judged";

  Programs open;  // decode is open after 20 pairs
  open.change = [](AbSide side, int process, AbMeasurement& measured) {
    if (side == AbSide::kBase && process == 23) measured = {{}, "had not ended", true, true};
    if (side == AbSide::kNew && process <= 20 && process % 2 == 0) {
      measured.run.records[0].timing.median_us *= 1.2;
    }
  };
  report = ab_of(open);
  EXPECT_EQ(open.calls, 46);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kInconclusive);
}

TEST(Ab, keeps_what_is_known_when_it_is_stopped) {
  Programs programs{.ratio = 1.05};
  GateReport report = ab_of(programs, {}, {.stop_requested = [&] { return programs.calls >= 25; }});
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.cells[0].speed->pairs, 12);
  EXPECT_EQ(judgement_of(report, "decode").verdict, GateVerdict::kRegressed);
  Programs early;
  report = ab_of(early, {}, {.stop_requested = [&] { return early.calls >= 5; }});
  EXPECT_EQ(judgement_of(report, "decode").doubt, Doubt::kFewPairs);
  EXPECT_EQ(early.calls, 5) << "nothing is measured again";
}

TEST(Ab, applies_holm_among_many_cells_and_says_so) {
  const AbProcess process = [](AbSide, bool, const std::vector<CellKey>&) {
    AbMeasurement measured;
    measured.run = measured_run({});
    for (int i = 0; i < 60; ++i) {
      measured.run.records.push_back(measured_cell("case" + std::to_string(i), "splitkv", 100));
    }
    return measured;
  };
  EXPECT_THAT(run_ab(process, {}, {}).remarks, Contains(HasSubstr("60 cells: Holm")));
}

TEST(Ab, measures_the_cells_that_it_was_given_alone) {
  Programs programs{.ratio = 1.05};
  const std::vector<CellKey> cells = {CellKey(measured_cell("decode", "splitkv", 1))};
  const GateReport report = ab_of(programs, {.cells = cells});
  EXPECT_EQ(report.cells.size(), 1u);
  EXPECT_EQ(programs.asked[0].size(), 1u);
}

TEST(AbCommand, asks_for_one_round_of_the_cells) {
  const AbPrograms programs{"./old", "./new", {"s.yaml"}, {"--threads", "2"}, {"--case", "d*"}};
  EXPECT_THAT(ab_command(programs, AbSide::kBase, true, {}, "r.json"),
              ElementsAre("./old", "run", "s.yaml", "--threads", "2", "--case", "d*", "--rounds",
                          "1", "--quiet", "--json", "r.json"));
  const std::vector<CellKey> cells = {CellKey(measured_cell("decode", "splitkv#2", 1)),
                                      CellKey(measured_cell("decode", "fa3", 1))};
  EXPECT_THAT(ab_command(programs, AbSide::kNew, false, cells, "r.json"),
              ElementsAre("./new", "run", "s.yaml", "--threads", "2", "--case", "decode",
                          "--backend", "splitkv", "--backend", "fa3", "--step", "attention",
                          "--cache", "cold", "--launch", "eager", "--rounds", "1", "--quiet",
                          "--json", "r.json", "--no-verify"));
}

TEST(AbCommand, gives_each_side_its_interpreter) {
  const AbPrograms programs{"./a", "./a", {"s.yaml"}, {}, {}, "v22=/old/python", "/new/python"};
  EXPECT_THAT(ab_command(programs, AbSide::kBase, true, {}, "r.json"),
              ElementsAre("./a", "run", "s.yaml", "--python", "v22=/old/python", "--rounds", "1",
                          "--quiet", "--json", "r.json"));
  EXPECT_THAT(ab_command(programs, AbSide::kNew, true, {}, "r.json"),
              ElementsAre("./a", "run", "s.yaml", "--python", "/new/python", "--rounds", "1",
                          "--quiet", "--json", "r.json"));
}

constexpr std::chrono::minutes kLong{10};

TEST(AbProcess, tells_how_a_process_without_a_result_ended) {
  const std::string json = testing::TempDir() + "ab_process_test.json";
  AbMeasurement measured =
      run_ab_process({"sh", "-c", "echo 'error: no' >&2; exit 5"}, json, kLong, {});
  EXPECT_EQ(measured.failure, "exited with code 5: error: no");
  EXPECT_FALSE(measured.crashed);
  measured = run_ab_process({"sh", "-c", "kill -SEGV $$"}, json, kLong, {});
  EXPECT_THAT(measured.failure, HasSubstr("SIGSEGV"));
  EXPECT_TRUE(measured.crashed);
  measured = run_ab_process({"sleep", "60"}, json, kLong, [] { return true; });
  EXPECT_EQ(measured.failure, "was stopped");
  measured = run_ab_process({"sh", "-c", "echo '{' > " + json}, json, kLong, {});
  EXPECT_THAT(measured.failure, HasSubstr("no readable result"));
  EXPECT_THROW((void)run_ab_process({"/no/such/program"}, json, kLong, {}), EnvironmentError);
}

TEST(AbProcess, kills_one_that_hangs_with_all_that_it_started) {
  using std::chrono::steady_clock;
  const std::string json = testing::TempDir() + "ab_hang_test.json", late = json + ".late";
  std::filesystem::remove(late);
  const auto begin = steady_clock::now();
  const AbMeasurement measured =
      run_ab_process({"sh", "-c", "(sleep 1; touch " + late + ") & echo waiting; sleep 60"}, json,
                     std::chrono::milliseconds(300), {});
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(measured.failure,
            "had not ended after 0.3 s (--process-timeout) and was killed: waiting");
  EXPECT_TRUE(measured.crashed);
  EXPECT_TRUE(measured.hung);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_FALSE(std::filesystem::exists(late));
}

TEST(Suspects, are_the_cells_that_pairs_may_decide) {
  const std::string path = testing::TempDir() + "suspects_test.json";
  const auto report_of = [](double factor) {
    Record slow = measured_cell("decode", "splitkv", 100 * factor);
    slow.cache = CacheState::kWarm;
    Record base = measured_cell("decode", "splitkv", 100);
    base.cache = CacheState::kWarm;
    const Record same = measured_cell("prefill", "splitkv", 100);
    return compare_runs(measured_run({base, same}), measured_run({slow, same}), {});
  };
  const auto screen_of = [&](const GateReport& report) {
    std::ofstream file(path);
    write_gate_json(report, 0, file);
    file.close();
    return read_screen(path);
  };
  EXPECT_TRUE(screen_of(report_of(1)).open.empty());
  GateReport report = report_of(1.05);
  report.cells.push_back(report.cells.back());
  report.cells.back().judgement = {GateVerdict::kMissing, "", Doubt::kNone};
  report.cells.push_back(report.cells.back());
  report.cells.back().allowed_because = "the backend was removed";
  const Screen screen = screen_of(report);
  ASSERT_EQ(screen.open.size(), 1u);
  EXPECT_EQ(screen.open[0].cache, CacheState::kWarm);
  ASSERT_EQ(screen.gone.size(), 1u) << "what is allowed to be missing is not missed";
  EXPECT_EQ(screen.gone[0].cell.case_id, "prefill");
  for (const char* wrong : {"{}", "[]", "no json", R"({"schema": "attnbench.gate"})",
                            R"({"schema": "attnbench.gate", "cells": [{"verdict": "WORSE"}]})"}) {
    std::ofstream(path) << wrong;
    EXPECT_THROW((void)read_screen(path), ConfigError) << wrong;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace attnbench
