// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// `ab` with programs that are shell scripts: they write results that are planted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/result/sinks.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class AbCommandLine : public CommandLine {
 protected:
  int ab(const std::vector<std::string>& words) { return run("ab", words); }

  /// A program that notes its arguments, runs `body` and writes a result of one cell.
  std::string program(const std::string& name, const std::function<void(Record&)>& change,
                      const std::string& body = "") {
    Record record = measured_cell("decode", "splitkv", 100);
    change(record);
    std::ofstream result(folder_ + name + ".json");
    write_json(measured_run({record}), result);
    const std::string path = folder_ + name;
    std::ofstream(path) << "#!/bin/sh\necho \"$*\" >> " << path << ".log\n"
                        << body << "\nwhile [ \"$1\" != --json ]; do shift; done\ncp " << path
                        << ".json \"$2\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string program(const std::string& name, double us, const std::string& body = "") {
    return program(
        name,
        [us](Record& record) {
          record.timing.median_us = us;
          record.timing.lo_us = 0.996 * us;
          record.timing.hi_us = 1.004 * us;
        },
        body);
  }

  [[nodiscard]] std::vector<std::string> calls_of(const std::string& path) const {
    std::ifstream file(path + ".log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(AbCommandLine, exits_1_for_a_planted_slow_program_and_0_for_an_equal_one) {
  const std::string base = program("base", 100), slow = program("slow", 105),
                    equal = program("equal", 100.5);
  EXPECT_EQ(ab({"--base", base, "--new", slow, scenario_, "--pairs", "8"}), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("100 µs → 105 µs  +5.0 %  (+5.0 … +5.0 %)  REGRESSED"));
  EXPECT_EQ(calls_of(base).size(), 8u);
  EXPECT_EQ(ab({"--base", base, "--new", equal, scenario_, "--pairs", "8", "--gate"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("1 the same within 0.5 %"));
}

TEST_F(AbCommandLine, exits_2_for_a_planted_wrong_program_and_for_one_that_crashes) {
  const std::string base = program("base", 100), wrong = program("wrong", [](Record&record) {
                                                   record.outcome = Incorrect{"3 NaN", true};
                                                 });
  EXPECT_EQ(ab({"--base", base, "--new", wrong, scenario_, "--pairs", "8"}), 2) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("INCORRECT: 3 NaN"));
  const std::string crashing = program("crashing", 100, "kill -SEGV $$");
  EXPECT_EQ(ab({"--base", base, "--new", crashing, scenario_, "--pairs", "8"}), 2) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("SIGSEGV"));
}

TEST_F(AbCommandLine, does_not_wait_for_ever_for_a_program_that_hangs) {
  const std::string base = program("base", 100), hanging = program("hanging", 100, "sleep 600");
  EXPECT_EQ(ab({"--base", base, "--new", hanging, scenario_, "--process-timeout", "1s"}), 2)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("had not ended after 1 s (--process-timeout)"));
  EXPECT_THAT(out_.str(), HasSubstr("no pair was begun after pair 1"));
  EXPECT_EQ(calls_of(hanging).size(), 1u);
  EXPECT_EQ(ab({"--base", hanging, "--new", base, scenario_, "--process-timeout", "1s", "--gate"}),
            3)
      << out_.str();
  EXPECT_EQ(ab({"--base", base, "--new", base, scenario_, "--process-timeout", "0"}), 4);
}

TEST_F(AbCommandLine, hands_options_of_a_run_to_both_programs) {
  const std::string base = program("base", 100), now = program("now", 100);
  EXPECT_EQ(
      ab({"--base",  base,        "--new",    now,      scenario_, "--pairs",   "8", "--case",
          "dec*",    "--backend", "splitkv",  "--seed", "3",       "--threads", "2", "--isolate",
          "--cache", "warm,cold", "--launch", "eager",  "--step",  "both"}),
      0)
      << err_.str();
  for (const std::string& path : {base, now}) {
    const std::vector<std::string> calls = calls_of(path);
    ASSERT_EQ(calls.size(), 8u);
    EXPECT_THAT(calls[0], HasSubstr("run " + scenario_ +
                                    " --seed 3 --threads 2 --isolate --case dec* --backend splitkv "
                                    "--cache warm,cold --launch eager --step both "
                                    "--rounds 1 --quiet --json "));
    EXPECT_THAT(calls[0], Not(HasSubstr("--no-verify")));
    EXPECT_THAT(calls[1], HasSubstr("--no-verify"));
  }
}

TEST_F(AbCommandLine, hands_plug_ins_and_how_long_they_may_load_to_both_programs) {
  const std::string base = program("base", 100);
  EXPECT_EQ(ab({"--base", base, "--new", base, scenario_, "--pairs", "8", "--plugin", "mine.py",
                "--plugin-timeout", "4min"}),
            0)
      << err_.str();
  EXPECT_THAT(calls_of(base)[0], HasSubstr(" --plugin mine.py --plugin-timeout 240 "));
  EXPECT_EQ(ab({"--base", base, "--new", base, scenario_, "--plugin-timeout", "soon"}), 4);
}

TEST_F(AbCommandLine, measures_what_a_comparison_left_open) {
  const std::string base = program("base", 100), slow = program("slow", 105);
  const std::string report = folder_ + "gate.json";
  std::ofstream(report) << R"({"schema": "attnbench.gate", "cells": []})";
  EXPECT_EQ(ab({"--base", base, "--new", slow, scenario_, "--only-suspects", report}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("nothing to confirm"));
  std::ofstream(report) << R"({"schema": "attnbench.gate", "cells": [{"scenario": "serving",
    "case": "decode", "backend": "splitkv", "step": "attention", "cache": "cold",
    "launch": "eager", "verdict": "SUSPECT", "speed": null}]})";
  EXPECT_EQ(ab({"--base", base, "--new", slow, scenario_, "--only-suspects", report, "--pairs", "8",
                "--json", folder_ + "ab.json"}),
            1)
      << err_.str();
  EXPECT_THAT(calls_of(base)[0], HasSubstr("--case decode --backend splitkv --step attention"));
  std::ifstream json(folder_ + "ab.json");
  EXPECT_EQ(Json::parse(json)["confirmed"], true);
}

TEST_F(AbCommandLine, does_not_lose_what_the_screen_missed) {
  const std::string base = program("base", 100), report = folder_ + "gate.json";
  const auto cell = [](const char* backend, const char* verdict) {
    return fmt::format(R"({{"scenario": "serving", "case": "decode", "mix": "decode",
      "backend": "{}", "step": "attention", "cache": "cold", "launch": "eager", "verdict": "{}",
      "reason": "", "allowed_because": "", "repro": "", "speed": null}})",
                       backend, verdict);
  };
  const auto confirm = [&](const std::string& cells) {
    std::ofstream(report) << R"({"schema": "attnbench.gate", "cells": [)" << cells << "]}";
    return ab({"--base", base, "--new", base, scenario_, "--only-suspects", report, "--pairs", "8",
               "--gate"});
  };
  EXPECT_EQ(confirm(cell("splitkv", "SUSPECT")), 0) << out_.str();
  EXPECT_EQ(confirm(cell("splitkv", "SUSPECT") + "," + cell("cascade", "MISSING")), 3);
  EXPECT_THAT(out_.str(), testing::ContainsRegex("cascade +decode +cold +MISSING"));
  EXPECT_EQ(confirm(cell("cascade", "SKIPPED_NOW")), 3);
  EXPECT_THAT(out_.str(), HasSubstr("1 of its cells did not run"));
}

TEST_F(AbCommandLine, exits_4_on_what_cannot_be_run) {
  const std::string base = program("base", 100);
  EXPECT_EQ(ab({"--base", base, "--new", base}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("ab takes --base PROGRAM"));
  EXPECT_EQ(ab({"--base", base, "--new", folder_ + "none", scenario_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("no program that can be started"));
  EXPECT_EQ(ab({"--base", base, "--new", "attnbench-of-no-folder-of-PATH", scenario_}), 4);
  EXPECT_EQ(ab({"--base", base, "--new", base, scenario_, "--pairs", "7"}), 4);
  EXPECT_EQ(ab({"--base", base, "--new", base, "-"}), 4);
  EXPECT_EQ(ab({"--base-python", "/bin/sh", scenario_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--base-python and --new-python come together"));
  EXPECT_EQ(ab({"--base-python", "/bin/sh", "--new-python", "/bin/sh", "--new", base, scenario_}),
            4);
  EXPECT_EQ(ab({"--base-python", "/bin/sh", "--new-python", folder_ + "none", scenario_}), 5);
  EXPECT_THAT(err_.str(), HasSubstr("error: --new-python: " + folder_ + "none cannot be run\n"));
  const std::string picky = program("picky", 100, "echo 'error: unknown case' >&2; exit 4");
  EXPECT_EQ(ab({"--base", picky, "--new", picky, scenario_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("error: unknown case"));
  EXPECT_EQ(calls_of(picky).size(), 1u) << "nothing is repeated";
}

}  // namespace
}  // namespace attnbench
