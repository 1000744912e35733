// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

Record named(const char* backend, Outcome outcome) {
  Record r = sample_run().records[0];
  r.backend = backend;
  r.outcome = std::move(outcome);
  return r;
}

Record ran(const char* backend) {
  return named(backend, Completed{Check::kPassed, Speed::kClaimed});
}

TEST(NotRun, names_backends_by_their_reason_each_once) {
  const Unsupported graph{"no CUDA graph on a CPU"};
  const std::vector<Record> records = {named("torch_native", graph), named("torch_native", graph),
                                       ran("splitkv"), named("mla", Unsupported{"no latent cache"}),
                                       named("cpu_flash", graph)};
  EXPECT_EQ(not_run_text(records),
            "torch_native, cpu_flash (no CUDA graph on a CPU) · mla (no latent cache)");
}

TEST(NotRun, is_nothing_that_was_tried) {
  EXPECT_FALSE(was_not_run(named("wrong", Incorrect{"wrong"})));
  EXPECT_FALSE(was_not_run(named("crashed", Crashed{"it"})));
  EXPECT_FALSE(was_not_run(named("waits", Completed{Check::kPassed, Speed::kNone, "waits"})));
  EXPECT_TRUE(was_not_run(named("late", Skipped{"interrupted"})));
  EXPECT_EQ(not_run_text(std::vector<Record>{ran("splitkv")}), "");
}

TEST(NotRun, tells_the_cells_apart_of_a_backend_that_ran_in_part) {
  Record graph = named("cascade", Unsupported{"prompts have no graph"});
  graph.launch = LaunchMode::kGraph;
  Record warm = named("cascade", Skipped{"interrupted"});
  warm.cache = CacheState::kWarm;
  EXPECT_EQ(not_run_text(std::vector<Record>{ran("cascade"), graph, warm}),
            "cascade/g (prompts have no graph) · cascade warm (interrupted)");
}

TEST(NotRun, names_both_of_an_a_a_pair_as_one) {
  const Unsupported reason{"no latent cache"};
  EXPECT_EQ(not_run_text(std::vector<Record>{named("mla", reason), named("mla#2", reason)}),
            "mla (no latent cache)");
}

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// The words that a POSIX shell makes of a line.
std::vector<std::string> words_in_a_shell(const std::string& line) {
  FILE* pipe = popen(("set -f; printf '%s\\0' " + line).c_str(), "r");
  if (pipe == nullptr) return {};
  std::vector<std::string> words(1);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == '\0') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(c);
    }
  }
  words.pop_back();
  return pclose(pipe) == 0 ? words : std::vector<std::string>{};
}

TEST(ReproLine, elides_defaults_and_quotes_for_the_shell) {
  Scenario scenario;
  scenario.path = "it's here.yaml";
  scenario.seed = 7;
  Record record;
  record.case_id = "mla/ps64";
  record.backend = "cpu_flash";
  EXPECT_EQ(repro_line(scenario, record),
            "attnbench run 'it'\\''s here.yaml' --case mla/ps64 --backend cpu_flash --cache cold "
            "--seed 7");
  scenario.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  scenario.verify.enabled = false;
  EXPECT_THAT(repro_line(scenario, record), HasSubstr("--launch eager --seed 7 --no-verify"));
}

TEST(ReproLine, reaches_the_program_word_for_word_through_a_shell) {
  for (const std::string odd :
       {"plain/ps16", "mla,\"odd\"", "it's", "a b  c", "$HOME", "a;true", "*", "a&b", "(x)",
        "$HOME;`ls`", "*/?[x]", "back\\slash", "#comment", "~", "grün"}) {
    Scenario scenario;
    scenario.path = odd + ".yaml";
    scenario.seed = 18446744073709551615u;
    Record record;
    record.case_id = odd;
    record.backend = "b " + odd;
    record.cache = CacheState::kWarm;
    record.launch = LaunchMode::kGraph;
    const std::vector<std::string> expected = {
        "attnbench",           "run",     scenario.path, "--case",   odd,     "--backend",
        record.backend,        "--cache", "warm",        "--launch", "graph", "--seed",
        "18446744073709551615"};
    EXPECT_EQ(words_in_a_shell(repro_line(scenario, record)), expected) << odd;
  }
}

TEST(ReproLine, names_a_plug_in_that_the_scenario_does_not) {
  Registry registry;
  registry.add_hosted({.name = "mine", .environment = {"", "python3"}}, {"python3", "-c"},
                      "/my/plugin.py");
  const Registry::Entry& mine = registry.entries().front();
  Scenario scenario;
  EXPECT_THAT(repro_line(scenario, {}, mine),
              HasSubstr(" --plugin /my/plugin.py --python python3"));
  scenario.backends = {"cpu_flash", "/my/plugin.py"};
  EXPECT_THAT(repro_line(scenario, {}, mine), Not(HasSubstr("--plugin")));
  EXPECT_THAT(repro_line(scenario, {}, mine), HasSubstr(" --python python3"));
}

TEST(ReproLine, names_the_environment_in_which_the_backend_runs) {
  Registry registry;
  registry.add_hosted({.name = "v33/mine", .environment = {"v33", "/new/python"}},
                      {"/new/python", "-c"}, "/my/plugin.py");
  Record record;
  record.backend = "v33/mine";
  EXPECT_THAT(repro_line({}, record, registry.entries().front()),
              HasSubstr(" --backend mine --plugin /my/plugin.py --python v33=/new/python --cache"));
}

TEST(ReproLine, gives_a_timeout_only_to_what_has_a_process_of_its_own) {
  Registry registry;
  registry.add_hosted({.name = "mine"}, {"python3", "-c"}, "/my/plugin.py");
  Scenario scenario;
  scenario.command.hosted_options = {"--timeout", "3s"};
  EXPECT_THAT(repro_line(scenario, {}, registry.entries().front()), EndsWith(" --timeout 3s"));
  EXPECT_THAT(repro_line(scenario, {}), Not(HasSubstr("--timeout")));
}

}  // namespace
}  // namespace attnbench
