// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Every exit code of `compare` once, with results that are planted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

class CompareCommandLine : public CommandLine {
 protected:
  int compare(const std::vector<std::string>& words) { return run("compare", words); }

  /// Writes a result of two backends to a file of this name.
  std::string write(const std::string& name, const std::function<void(RunResult&)>& change = {}) {
    RunResult run = measured_run({measured_cell("decode/ps16", "splitkv", 100),
                                  measured_cell("decode/ps16", "paged_fa", 200)});
    run.environment.started_utc = "9999-01-01T00:00:00Z";  // never old
    if (change) change(run);
    std::ofstream file(folder_ + name);
    write_json(run, file);
    return folder_ + name;
  }

  std::string slower(double factor) {
    return write("slower.json", [&](RunResult& run) {
      CellTiming& timing = run.records[0].timing;
      for (double* us : {&timing.median_us, &timing.lo_us, &timing.hi_us}) *us *= factor;
    });
  }
};

TEST_F(CompareCommandLine, exits_0_on_equal_results) {
  EXPECT_EQ(compare({write("a.json"), write("b.json"), "--gate"}), 0) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("0 missing · 2 the same within 0.0 % · exit 0"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CompareCommandLine, exits_1_on_a_planted_slower_result_when_runs_are_trusted) {
  EXPECT_EQ(compare({write("a.json"), slower(1.05), "--trust-sequential"}), 1) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("splitkv  decode/ps16  cold  100 µs → 105 µs  +5.0 %"));
  EXPECT_THAT(out_.str(), HasSubstr("REGRESSED"));
}

TEST_F(CompareCommandLine, suspects_a_planted_slower_result_otherwise_and_exits_3_as_a_gate) {
  EXPECT_EQ(compare({write("a.json"), slower(1.05)}), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("SUSPECT"));
  EXPECT_THAT(out_.str(), HasSubstr("to confirm: attnbench ab --base BASE_PROGRAM"));
  EXPECT_EQ(compare({write("a.json"), slower(1.05), "--gate"}), 3);
  EXPECT_EQ(compare({write("a.json"), slower(1.05), "--strict"}), 3);
}

TEST_F(CompareCommandLine, exits_2_on_a_planted_incorrect_result) {
  const std::string wrong = write("wrong.json", [](RunResult& run) {
    run.records[1].outcome = Incorrect{"3 NaN, the first at request 3", true};
  });
  EXPECT_EQ(compare({write("a.json"), wrong}), 2);
  EXPECT_THAT(out_.str(), HasSubstr("INCORRECT: 3 NaN"));
  EXPECT_THAT(out_.str(), HasSubstr("attnbench run serving.yaml --case decode/ps16"));
}

TEST_F(CompareCommandLine, exits_3_on_a_cell_that_is_missing) {
  const std::string less = write("less.json", [](RunResult& run) { run.records.pop_back(); });
  EXPECT_EQ(compare({write("a.json"), less, "--gate"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("MISSING"));
  EXPECT_EQ(compare({write("a.json"), less}), 0);
}

TEST_F(CompareCommandLine, exits_4_on_what_cannot_be_read_or_matched) {
  const std::string base = write("a.json");
  EXPECT_EQ(compare({base}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("compare takes two results"));
  EXPECT_EQ(compare({base, base, base}), 4);
  EXPECT_EQ(compare({base, "--base", "splitkv"}), 4);
  const std::string other =
      write("other.json", [](RunResult& run) { run.records = {measured_cell("mla", "mla", 9)}; });
  EXPECT_EQ(compare({base, other}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("nothing matched"));
  std::ofstream(folder_ + "half.json") << "{\"schema_version\": ";
  EXPECT_EQ(compare({base, folder_ + "half.json"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("half.json"));
  EXPECT_EQ(compare({base, base, "--allow", "drivr"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'driver'?"));
}

TEST_F(CompareCommandLine, exits_5_on_another_machine_unless_the_difference_is_waived) {
  const std::string there =
      write("there.json", [](RunResult& run) { run.environment.device.driver = "590.10"; });
  EXPECT_EQ(compare({write("a.json"), there}), 5);
  EXPECT_THAT(out_.str(), HasSubstr("another driver: 580.159.03 in the base, 590.10 now"));
  EXPECT_EQ(compare({write("a.json"), there, "--allow", "driver"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("waived by --allow"));
}

TEST_F(CompareCommandLine, compares_two_backends_of_one_file) {
  EXPECT_EQ(compare({write("a.json"), "--base", "splitkv", "--new", "paged_fa"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("+100.0 %"));
  EXPECT_EQ(compare({write("a.json"), "--base", "paged_fa", "--new", "splitkv"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("IMPROVED"));
}

TEST_F(CompareCommandLine, holds_a_policy_and_dumps_it) {
  const std::string policy = folder_ + "gate.yaml";
  std::ofstream(policy) << "limits: {latency: 10%}\n";
  const std::string base = write("a.json"), now = slower(1.05);
  EXPECT_EQ(compare({base, now, "--trust-sequential", "--policy", policy}), 0) << out_.str();
  EXPECT_EQ(compare({base, now, "--policy", policy, "--min-roofline", "90%"}), 1) << out_.str();
  EXPECT_EQ(compare({"--dump-policy", "--policy", policy}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "limits: {latency: 0.1, latency_floor: 0.5us}\n");
  std::ofstream(policy) << "limits: {latensy: 10%}\n";
  EXPECT_EQ(compare({base, now, "--policy", policy}), 4);
  EXPECT_THAT(err_.str(), HasSubstr(policy + ":1:10: error: unknown key 'latensy'"));
}

TEST_F(CompareCommandLine, writes_files_annotations_and_the_step_summary) {
  const std::string base = write("a.json"), now = slower(1.05);
  const std::string markdown = folder_ + "pr.md", junit = folder_ + "gate.xml",
                    json = folder_ + "gate.json", summary = folder_ + "summary.md";
  setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  const int code = compare({base, now, "--trust-sequential", "--markdown", markdown, "--junit",
                            junit, "--json", json, "--github"});
  unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_EQ(code, 1) << err_.str();
  EXPECT_THAT(text_in(markdown), HasSubstr("**REGRESSED**"));
  EXPECT_THAT(text_in(summary), HasSubstr("**REGRESSED**"));
  EXPECT_THAT(text_in(junit), HasSubstr("<failure type=\"REGRESSED\""));
  EXPECT_EQ(Json::parse(text_in(json))["exit_code"], 1);
  EXPECT_THAT(out_.str(), HasSubstr("\n::error file=serving.yaml,title=attnbench REGRESSED::"));
  EXPECT_EQ(compare({base, now, "--markdown", "-"}), 0);
  EXPECT_TRUE(out_.str().starts_with("### attnbench: 1 suspect")) << out_.str();
}

TEST_F(CompareCommandLine, overwrites_no_result_that_it_reads) {
  const std::string base = write("a.json"), now = write("b.json");
  EXPECT_EQ(compare({base, now, "--json", base}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("would overwrite what is read"));
  EXPECT_EQ(compare({base, now, "--json", folder_ + "x", "--junit", folder_ + "./x"}), 4);
  EXPECT_EQ(compare({base, now, "--json", "/no/such/folder/x"}), 5);
}

}  // namespace
}  // namespace attnbench
