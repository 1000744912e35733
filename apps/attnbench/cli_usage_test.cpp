// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What the command line says to words, options and numbers that it does not take, and every exit
// code once, with backends that behave as the code demands.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <ios>
#include <memory>
#include <sstream>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/testing/command_line.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/device/cpu/cpu_info.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, takes_cache_states_by_name_and_names_the_nearest_of_a_misspelt_one) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cache", "warm,serving"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("serv"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--cache", "servin"}), 4);
  EXPECT_NE(err_.str().find("did you mean 'serving'?   allowed here: cold serving warm"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"run", "--help"}), 0);
  EXPECT_NE(out_.str().find("--cache STATE,..."), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find('\0'), std::string::npos) << "an 8-bit value as a character";
}

TEST_F(CommandLine, exits_4_on_a_misspelt_option_and_names_the_right_one) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--bakend", "torch_native"}), 4);
  EXPECT_NE(err_.str().find("--backend"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_on_a_timeout_of_nothing_and_says_what_it_needs) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--timeout", "3"}), 4);
  EXPECT_NE(err_.str().find("--timeout requires --isolate"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, tells_nobody_of_the_command_for_its_own_workers) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_EQ(out_.str().find("worker"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"workr"}), 4);
  EXPECT_EQ(err_.str().find("worker"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_on_a_misspelt_command_and_names_the_right_one) {
  EXPECT_EQ(run({"exapnd", scenario_.c_str()}), 4);
  EXPECT_NE(err_.str().find("expand"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, takes_the_scenario_behind_an_option_that_may_be_repeated) {
  EXPECT_EQ(run({"run", "--case", "tiny", scenario_.c_str(), "--quick"}), 0) << err_.str();
  EXPECT_EQ(run({"run", "--backend", "torch_native", scenario_.c_str(), "--quick"}), 0)
      << err_.str();
  EXPECT_EQ(run({"run", "--cache", "cold", scenario_.c_str(), "--quick"}), 0) << err_.str();
  EXPECT_EQ(run({"expand", "--case", "tiny", scenario_.c_str(), "--format", "json"}), 0)
      << err_.str();
}

TEST_F(CommandLine, exits_4_on_a_number_that_is_none_and_says_what_is_allowed) {
  const auto refused = [&](const char* option, const char* value, const char* why) {
    EXPECT_EQ(run({"run", scenario_.c_str(), "--isolate", option, value}), 4) << option << value;
    EXPECT_NE(err_.str().find(why), std::string::npos) << err_.str();
    EXPECT_LT(err_.str().size(), 200u) << err_.str();
    EXPECT_EQ(out_.str(), "");
  };
  refused("--seed", "-1", "less than 0");
  refused("--seed", "99999999999999999999999", "more than 9223372036854775807");
  refused("--seed", "1.5", "takes a whole number");
  for (const char* nothing : {"nan", "inf", "0", "-3", "1e400", "soon"}) {
    refused("--timeout", nothing, "greater than 0");
    refused("--cell-timeout", nothing, "greater than 0");
  }
  refused("--timeout", "1e9", "more than 1e+06");
  refused("--precision", "nan", "for example 0.5%");
  refused("--precision", "150%", "not between 0 and 1");
  refused("--rounds", "0", "less than 1");
  refused("--rounds", "9,3", "the fewest and the most");
  refused("--rounds", "1,2,3", "the fewest and the most");
  refused("--threads", "-1", "0");
}

TEST_F(CommandLine, says_on_a_line_of_its_own_what_a_time_may_be) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--isolate", "--timeout", "nan"}), 4);
  EXPECT_NE(err_.str().find("--timeout: timeout takes a time, found 'nan'\n   a number of seconds "
                            "greater than 0, or one with its unit"),
            std::string::npos)
      << err_.str();
}

TEST_F(CommandLine, exits_4_when_a_cache_state_or_launch_is_listed_twice) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--cache", "cold,cold"}), 4);
  EXPECT_NE(err_.str().find("--cache: 'cold' is listed twice"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--launch", "eager", "--launch", "eager"}), 4);
}

TEST_F(CommandLine, names_the_commands_and_the_nearest_of_an_unknown_one) {
  EXPECT_EQ(run({"rank", "a.json"}), 4);
  EXPECT_NE(err_.str().find("unknown command 'rank'"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("commands: run expand"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"exapnd"}), 4);
  EXPECT_NE(err_.str().find("did you mean 'expand'?"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"list", "modles"}), 4);
  EXPECT_NE(err_.str().find("unknown command 'modles'"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("did you mean 'models'?"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("see: attnbench list --help"), std::string::npos) << err_.str();
  EXPECT_EQ(run({}), 4);
  EXPECT_NE(err_.str().find("no command given"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"--verison"}), 4);
  EXPECT_NE(err_.str().find("did you mean '--version'"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, sorts_every_option_of_run_so_that_repro_lines_know_what_to_repeat) {
  EXPECT_EQ(run({"run", "--help"}), 0);
  const std::string help = out_.str();
  const std::size_t unsorted = help.find("\nOptions:");
  ASSERT_NE(unsorted, std::string::npos) << help;
  const std::size_t end = help.find("\n\n", unsorted);
  EXPECT_EQ(help.substr(unsorted, end - unsorted).find("--", help.find("--help") + 2 - unsorted),
            std::string::npos)
      << "an option outside the groups of run_options.cpp";
}

TEST_F(CommandLine, exits_4_on_an_unknown_cpu_target_and_5_on_one_of_another_processor) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cpu-target", "avx1024"}), 4);
  const std::string have(to_string(cpu_targets().front()));
  EXPECT_NE(err_.str().find("this processor has: " + have), std::string::npos) << err_.str();
  const char* const elsewhere = cpu_targets().front() == CpuTarget::kNeon ? "avx2" : "neon";
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cpu-target", elsewhere}), 5);
  EXPECT_NE(err_.str().find("it has: " + have), std::string::npos) << err_.str();
}

TEST_F(CommandLine, every_command_starts_its_help_with_two_examples) {
  for (const char* command : {"run", "expand", "support", "list", "model", "dump", "profile",
                              "watch", "crossover", "selftest"}) {
    EXPECT_EQ(run({command, "--help"}), 0);
    const std::string help = out_.str();
    const std::string example = std::string("  attnbench ") + command + " ";
    const std::size_t first = help.find(example);
    ASSERT_NE(first, std::string::npos) << help;
    EXPECT_NE(help.find(example, first + 1), std::string::npos) << help;
  }
}

TEST_F(CommandLine, takes_no_empty_word_for_an_interpreter_or_a_plug_in) {
  for (const char* option : {"--python", "--plugin"}) {
    EXPECT_EQ(run({"list", "backends", option, ""}), 4);
    EXPECT_NE(err_.str().find("is empty; a variable that is not set?"), std::string::npos);
  }
}

TEST_F(CommandLine, lists_commands_without_their_examples) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_NE(out_.str().find("\n  crossover  "), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("attnbench crossover "), std::string::npos) << out_.str();
}

TEST_F(CommandLine, gives_up_a_plug_in_that_hangs_as_it_is_loaded) {
  const std::string plugin = folder_ + "hangs.py";
  std::ofstream(plugin) << "import time\ntime.sleep(600)\n";
  EXPECT_EQ(run({"list", "backends", "--plugin", plugin.c_str(), "--plugin-timeout", "0.5s"}), 4);
  EXPECT_NE(err_.str().find("hangs.py: its process, of "), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("gave no answer within 0.5 s"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"list", "backends", "--plugin-timeout", "soon"}), 4);
  EXPECT_NE(err_.str().find("plugin-timeout"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, says_in_help_which_options_go_together_in_words) {
  EXPECT_EQ(run({"merge", "--help"}), 0);
  EXPECT_NE(out_.str().find("\n  --precision FRACTION "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("; only with --pool\n"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"ab", "--help"}), 0);
  EXPECT_NE(out_.str().find("\n  --junit TEXT  "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("; not with --package\n"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("; not with --base-python, --new-python, --package\n"),
            std::string::npos)
      << out_.str();
}

TEST_F(CommandLine, breaks_help_between_words_on_a_terminal_and_nowhere_else) {
  for (const std::size_t width : {40u, 80u, 200u}) {
    std::ostringstream out;
    Console console{.out = out, .err = err_, .out_width = [&] { return width; }};
    const char* const words[] = {"attnbench", "run", "--help"};
    EXPECT_EQ(run_command_line(3, words, registry_, console), 0);
    const std::string help = out.str(), options = help.substr(help.find("\nOptions:"));
    std::istringstream lines(options.substr(0, options.find("exit codes:")));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
    EXPECT_NE(help.find("  --quiet"), std::string::npos) << help;
    EXPECT_NE(help.find("print only the closing line\n"), std::string::npos) << help;
  }
  EXPECT_EQ(run({"run", "--help"}), 0);
  const std::string help = out_.str();
  const std::size_t begin = help.find("run each backend in a process"),
                    end = help.find('\n', begin);
  EXPECT_NE(help.substr(begin, end - begin).find("holds a copy"), std::string::npos) << help;
}

/// Leaves the outputs as they were: poisoned.
class LazyBackend : public StubBackend {
 public:
  LazyBackend() : StubBackend("lazy") {
    info_.version = "1";
    info_.description = "writes nothing";
    info_.index_format = "none";
  }
};

TEST_F(CommandLine, exits_0_after_a_run_that_found_nothing_wrong) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick"}), 0) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("torch_native"), std::string::npos);
  EXPECT_NE(out_.str().find("passed"), std::string::npos);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLine, exits_2_when_a_backend_writes_nothing) {
  registry_.add([] { return std::make_unique<LazyBackend>(); });
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "lazy"}), 2) << out_.str();
  EXPECT_NE(out_.str().find("INCORRECT"), std::string::npos);
  EXPECT_NE(out_.str().find("attnbench run " + scenario_), std::string::npos) << "no repro line";
}

TEST_F(CommandLine, exits_3_when_strict_and_a_smoke_test_cannot_converge) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--strict", "--backend", "torch_native"}), 3)
      << out_.str() << err_.str();
}

TEST_F(CommandLine, exits_4_when_the_scenario_is_wrong_or_missing) {
  std::ofstream(scenario_) << "mixes: {a: {batch: 0q1s1k}}\n";
  EXPECT_EQ(run({"run", scenario_.c_str()}), 4);
  EXPECT_NE(err_.str().find(scenario_ + ":1:"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", "/no/such/file.yaml"}), 4);
  EXPECT_NE(err_.str().find("/no/such/file.yaml"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_when_no_case_or_backend_matches) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--case", "tny"}), 4);
  EXPECT_NE(err_.str().find("tiny"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--backend", "cpu_flsh"}), 4);
  EXPECT_NE(err_.str().find("cpu_flash"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_when_the_only_backend_asked_for_is_absent) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "elsewhere"}), 4) << err_.str();
}

TEST_F(CommandLine, says_why_nothing_was_measured) {
  EXPECT_EQ(
      run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--launch", "graph"}),
      4);
  EXPECT_NE(err_.str().find("torch_native: no CUDA graph on a CPU"), std::string::npos)
      << err_.str();
}

TEST_F(CommandLine, exits_5_when_standard_output_takes_nothing) {
  for (const char* command : {"list", "expand", "--help"}) {
    std::ofstream full("/dev/full");
    Console console{full, err_};
    const char* const arguments[] = {"attnbench", command,
                                     command[0] == 'l' ? "models" : scenario_.c_str()};
    EXPECT_EQ(run_command_line(3, arguments, registry_, console), 5) << command;
    EXPECT_NE(err_.str().find("cannot write standard output"), std::string::npos) << err_.str();
  }
}

TEST_F(CommandLine, exits_141_when_the_reader_of_standard_output_is_gone) {
  out_.setstate(std::ios::badbit);
  Console console{.out = out_, .err = err_, .out_reader_is_gone = [] { return true; }};
  const char* const arguments[] = {"attnbench", "list", "models"};
  EXPECT_EQ(run_command_line(3, arguments, registry_, console), 141);
}

TEST_F(CommandLine, exits_70_on_a_defect_of_its_own) {
  registry_.add([]() -> std::unique_ptr<Backend> {
    static int made = 0;
    if (made++ == 0) return std::make_unique<LazyBackend>();
    throw InternalError("the factory forgot how");
  });
  EXPECT_EQ(run({"support", scenario_.c_str()}), 70) << out_.str();
  EXPECT_NE(err_.str().find("the factory forgot how"), std::string::npos);
}

TEST_F(CommandLine, documents_every_exit_code_in_its_help) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* code : {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  5 ", "  70 ", "  128+n "}) {
    EXPECT_NE(out_.str().find(code), std::string::npos) << code;
  }
}

TEST_F(CommandLine, names_the_gpu_that_it_cannot_use) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--device", "1023"}), 5);
  EXPECT_NE(err_.str().find("1023: "), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace attnbench
