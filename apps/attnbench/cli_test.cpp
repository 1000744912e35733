// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Every exit code once, through the whole command line, with backends that behave as the code
// demands.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "apps/attnbench/command.h"
#include "backends/register.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/selftest/fault.h"

namespace attnbench {
namespace {

constexpr const char* kTiny = R"(
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  tiny:
    batch: [{count: 2, mode: decode, kv_len: 9}]
verify: {rows: 8}
)";

/// Leaves the outputs as they were: poisoned.
class LazyBackend : public StubBackend {
 public:
  LazyBackend() : StubBackend("lazy") {
    info_.version = "1";
    info_.description = "writes nothing";
    info_.index_format = "none";
  }
};

class CommandLine : public testing::Test {
 protected:
  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "attnbench");
    out_.str("");
    err_.str("");
    Console console{out_, err_};
    return run_command_line(static_cast<int>(arguments.size()), arguments.data(), registry_,
                            console);
  }

  void SetUp() override {
    register_builtin_backends(registry_);
    BackendInfo info;  // whatever this machine has, one backend is absent
    info.name = "elsewhere";
    registry_.add_absent(info, "not on this machine");
    std::filesystem::create_directory(folder_);
    std::ofstream(scenario_) << kTiny;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Registry registry_;
  /// Of this process: several share the tests among them.
  std::string folder_ = testing::TempDir() + "cli_test_" + std::to_string(getpid()) + "/";
  std::string scenario_ = folder_ + "tiny.yaml";
  std::ostringstream out_, err_;
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

TEST_F(CommandLine, exits_5_on_a_full_disk_and_prints_the_results_instead) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "/dev/full"}), 5);
  EXPECT_NE(err_.str().find("No space left on device"), std::string::npos) << err_.str();
  EXPECT_NE(out_.str().find("torch_native"), std::string::npos);
}

TEST_F(CommandLine, takes_the_scenario_behind_an_option_that_may_be_repeated) {
  EXPECT_EQ(run({"run", "--case", "tiny", scenario_.c_str(), "--quick"}), 0) << err_.str();
  EXPECT_EQ(run({"run", "--backend", "torch_native", scenario_.c_str(), "--quick"}), 0)
      << err_.str();
  EXPECT_EQ(run({"run", "--cache", "cold", scenario_.c_str(), "--quick"}), 0) << err_.str();
  EXPECT_EQ(run({"expand", "--case", "tiny", scenario_.c_str(), "--format", "json"}), 0)
      << err_.str();
}

TEST_F(CommandLine, expands_index_formats_by_name) {
  EXPECT_EQ(run({"expand", scenario_.c_str()}), 0) << err_.str();
  const std::string plain = out_.str();
  EXPECT_EQ(plain.find("\n  indices "), std::string::npos) << plain;
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices", "slot_mapping,csr", "--indices", "swa"}),
            0)
      << err_.str();
  const std::size_t csr = out_.str().find("\n  indices csr, read by "),
                    slots = out_.str().find("\n  indices slot_mapping, read by "),
                    swa = out_.str().find("\n  indices swa do not apply: ");
  EXPECT_EQ(out_.str().substr(0, csr + 1), plain);
  EXPECT_LT(csr, slots);
  EXPECT_LT(slots, swa);
  EXPECT_NE(swa, std::string::npos) << out_.str();
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices", "slot_maping"}), 4);
  EXPECT_NE(err_.str().find("unknown word 'slot_maping'   did you mean 'slot_mapping'?"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices"}), 4);
}

TEST_F(CommandLine, exits_4_on_a_file_name_that_is_empty_and_measures_nothing) {
  for (const char* option :
       {"--json", "--csv", "--markdown", "--junit", "--google-benchmark", "-o"}) {
    EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", option, ""}), 4) << option;
    EXPECT_NE(err_.str().find("a variable that is not set?"), std::string::npos) << err_.str();
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(CommandLine, exits_5_before_the_run_when_a_file_cannot_be_written) {
  for (const char* path : {"/no/such/folder/r.json", "/"}) {
    EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", path}), 5);
    EXPECT_NE(err_.str().find(std::string("cannot write ") + path), std::string::npos);
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(CommandLine, exits_4_when_a_file_would_overwrite_another_or_the_scenario) {
  const std::string file = folder_ + "twice";
  const std::string same = folder_ + "./twice";
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", file.c_str(), "--csv", same.c_str()}), 4);
  EXPECT_NE(err_.str().find("would write the same file"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", "-", "--csv", "-"}), 4);
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", scenario_.c_str()}), 4);
  EXPECT_NE(err_.str().find("would overwrite the scenario"), std::string::npos) << err_.str();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(out_.str(), "");
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

TEST_F(CommandLine, exits_4_when_a_cache_state_or_launch_is_listed_twice) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--cache", "cold,cold"}), 4);
  EXPECT_NE(err_.str().find("--cache: 'cold' is listed twice"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--launch", "eager", "--launch", "eager"}), 4);
}

TEST_F(CommandLine, names_the_commands_and_the_nearest_of_an_unknown_one) {
  EXPECT_EQ(run({"compare", "a.json"}), 4);
  EXPECT_NE(err_.str().find("unknown command 'compare'"), std::string::npos) << err_.str();
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

TEST_F(CommandLine, profiles_known_backends_of_a_gpu_only) {
  const auto profile = [&](const char* backend) {
    return run({"profile", scenario_.c_str(), "--case", "tiny", "--backend", backend});
  };
  EXPECT_EQ(profile("zzz"), 4);
  EXPECT_EQ(err_.str().find("did you mean"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("backends: "), std::string::npos) << err_.str();
  EXPECT_EQ(profile("cpu_flash"), 4);
  EXPECT_NE(err_.str().find("cpu_flash runs on the CPU"), std::string::npos) << err_.str();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandLine, says_why_nothing_was_measured) {
  EXPECT_EQ(
      run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--launch", "graph"}),
      4);
  EXPECT_NE(err_.str().find("torch_native: no CUDA graph on a CPU"), std::string::npos)
      << err_.str();
}

TEST_F(CommandLine, finds_an_unknown_backend_of_a_file_in_every_command_and_says_where) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/bad.yaml";
  std::ofstream(file) << kTiny << "backends: [cpu_flash, nope]\n";
  for (const char* command : {"run", "expand", "support"}) {
    EXPECT_EQ(run({command, file.c_str()}), 4) << command;
    EXPECT_NE(err_.str().find(file + ":10:23: error: unknown backend 'nope'"), std::string::npos)
        << err_.str();
  }
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 4);
  EXPECT_NE(err_.str().find("'nope'"), std::string::npos) << err_.str();
  std::filesystem::remove_all(folder);
}

TEST_F(CommandLine, asks_the_backends_of_the_file_or_of_the_command_line_for_support) {
  std::ofstream(scenario_, std::ios::app) << "backends: [cpu_flash]\n";
  EXPECT_EQ(run({"support", scenario_.c_str()}), 0);
  EXPECT_NE(out_.str().find("cpu_flash"), std::string::npos);
  EXPECT_EQ(out_.str().find("torch_native"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"support", scenario_.c_str(), "--backend", "torch_native", "--format", "json"}),
            0);
  const auto root = nlohmann::json::parse(out_.str());
  ASSERT_EQ(root["answers"].size(), 1u);
  EXPECT_EQ(root["answers"][0]["backend"], "torch_native");
}

TEST_F(CommandLine, writes_lists_as_json) {
  EXPECT_EQ(run({"list", "backends", "--format", "json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out_.str()).back()["absence"], "not on this machine");
  EXPECT_EQ(run({"list", "models", "--format", "json"}), 0);
  EXPECT_GT(nlohmann::json::parse(out_.str()).size(), 5u);
  EXPECT_EQ(run({"list", "cases", scenario_.c_str()}), 0);
  EXPECT_EQ(out_.str(), "tiny\n");
}

TEST_F(CommandLine, shows_no_escape_that_a_file_brings) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/a\x1b[2Jb.yaml";
  std::ofstream(file) << "description: \"x\\e]0;owned\\a\"\n" << kTiny;
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("x\\x1b]0;owned\\x07"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);
  std::ofstream(file) << "\x1b[31mfoo: 1\n";
  EXPECT_EQ(run({"run", file.c_str()}), 4);
  EXPECT_EQ(run({"run", (folder + "/\x1b[5mnot_there.yaml").c_str()}), 4);
  EXPECT_EQ(err_.str().find('\x1b'), std::string::npos) << err_.str();
  std::filesystem::remove_all(folder);
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

TEST_F(CommandLine, measures_as_its_options_say) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--backend", "torch_native", "--rounds", "7",
                 "--precision", "0.3%"}),
            0)
      << err_.str();
  EXPECT_NE(out_.str().find("* above 0.3 %"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--backend", "torch_native", "--rounds", "100000",
                 "--cell-timeout", "50ms", "--json", "-"}),
            0);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["records"][0]["status"], "timeout");
}

TEST_F(CommandLine, runs_several_scenarios_into_one_result) {
  const std::string other = folder_ + "other.yaml";
  std::ofstream(other) << kTiny << "seed: 5\n";
  EXPECT_EQ(run({"run", scenario_.c_str(), other.c_str(), "--quick", "--backend", "torch_native",
                 "--json", "-"}),
            0)
      << err_.str();
  const auto root = nlohmann::json::parse(out_.str());
  ASSERT_EQ(root["scenarios"].size(), 2u);
  EXPECT_EQ(root["scenarios"][1]["seed"], 5);
  ASSERT_EQ(root["records"].size(), 2u);
  EXPECT_EQ(root["records"][0]["scenario"], "tiny");
  EXPECT_EQ(root["records"][1]["scenario"], "other");
  EXPECT_EQ(run({"run", scenario_.c_str(), scenario_.c_str()}), 4) << "the same one twice";
  EXPECT_EQ(run({"run", scenario_.c_str(), other.c_str(), "--case", "tny"}), 4);
  EXPECT_NE(err_.str().find("'tiny'"), std::string::npos) << err_.str();
  std::ofstream(other) << kTiny << "backends: [nope]\n";
  EXPECT_EQ(run({"run", scenario_.c_str(), other.c_str(), "--quick"}), 4);
  EXPECT_EQ(out_.str(), "") << "a mistake in the second shows before the first is measured";
  std::filesystem::remove(other);
}

/// The words that a POSIX shell makes of a line.
std::vector<std::string> words_in_a_shell(const std::string& line) {
  FILE* pipe = popen(("set -f; printf '%s\\n' " + line).c_str(), "r");
  std::vector<std::string> words(1);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == '\n') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(c);
    }
  }
  words.pop_back();
  pclose(pipe);
  return words;
}

TEST_F(CommandLine, prints_repro_lines_that_measure_the_same_from_another_folder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  EXPECT_EQ(
      run({"run", "tiny.yaml", "--backend", "torch_native", "--rounds", "7", "--precision", "90%",
           "--threads", "1", "--seed", "3", "--cache", "warm", "--no-verify", "--json", "-"}),
      0)
      << err_.str();
  std::filesystem::current_path("/");
  const auto first = nlohmann::json::parse(out_.str());
  std::vector<std::string> words = words_in_a_shell(first["records"][0]["repro"]);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.erase(arguments.begin());
  arguments.insert(arguments.end(), {"--json", "-"});
  EXPECT_EQ(run(arguments), 0) << err_.str();
  std::filesystem::current_path(before);
  const auto again = nlohmann::json::parse(out_.str());
  EXPECT_EQ(again["environment"]["threads"], 1);
  EXPECT_EQ(again["scenario"]["seed"], 3);
  for (const char* same : {"case", "backend", "cache", "verdict", "fixture_hash", "repro"}) {
    EXPECT_EQ(again["records"][0][same], first["records"][0][same]) << same;
  }
  EXPECT_EQ(again["records"][0]["time_us"]["rounds"], 7);
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

TEST_F(CommandLine, runs_cpu_kernels_for_the_instruction_set_asked_for_and_says_which) {
  for (const CpuTarget target : cpu_targets()) {
    const std::string name(to_string(target));
    EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "cpu_flash", "--cpu-target",
                   name.c_str(), "--json", "-"}),
              0)
        << err_.str();
    const auto json = nlohmann::json::parse(out_.str());
    const std::string arch = json["environment"]["device"]["arch"];
    EXPECT_TRUE(arch.ends_with(" " + name)) << arch;
  }
}

TEST_F(CommandLine, exits_4_on_an_unknown_cpu_target_and_5_on_one_of_another_processor) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cpu-target", "avx1024"}), 4);
  const std::string have(to_string(cpu_targets().front()));
  EXPECT_NE(err_.str().find("this processor has: " + have), std::string::npos) << err_.str();
  const char* const elsewhere = cpu_targets().front() == CpuTarget::kNeon ? "avx2" : "neon";
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cpu-target", elsewhere}), 5);
  EXPECT_NE(err_.str().find("it has: " + have), std::string::npos) << err_.str();
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

TEST_F(CommandLine, every_command_starts_its_help_with_two_examples) {
  for (const char* command : {"run", "expand", "support", "list", "dump", "profile", "selftest"}) {
    EXPECT_EQ(run({command, "--help"}), 0);
    const std::string help = out_.str();
    const std::string example = std::string("  attnbench ") + command + " ";
    const std::size_t first = help.find(example);
    ASSERT_NE(first, std::string::npos) << help;
    EXPECT_NE(help.find(example, first + 1), std::string::npos) << help;
  }
}

TEST_F(CommandLine, tests_itself_on_each_device_and_says_why_one_is_left_out) {
  EXPECT_EQ(run({"selftest"}), 0) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("\ncpu: "), std::string::npos) << out_.str();
  const std::string verdict = fmt::format("ok: all {} faults caught", all_faults().size());
  EXPECT_NE(out_.str().find(verdict), std::string::npos) << out_.str();
  const std::string absence = cuda_absence();
  const std::string gpu = absence.empty() ? "\ncuda: " : "\ncuda: not tested: " + absence + "\n";
  EXPECT_NE(out_.str().find(gpu), std::string::npos) << out_.str();
}

TEST_F(CommandLine, tests_itself_on_the_one_device_asked_for) {
  EXPECT_EQ(run({"selftest", "--device", "cpu", "--reasons"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("\ncpu: "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("guard bytes of 'out' changed"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("cuda"), std::string::npos) << out_.str();
  const std::string absence = cuda_absence();
  EXPECT_EQ(run({"selftest", "--device", "cuda"}), absence.empty() ? 0 : 5) << err_.str();
  EXPECT_EQ(out_.str().find("cpu"), std::string::npos) << out_.str();
  EXPECT_EQ(err_.str(), absence.empty() ? "" : "error: " + absence + "\n");
}

TEST_F(CommandLine, exits_4_when_the_selftest_is_asked_for_a_device_of_no_such_kind) {
  EXPECT_EQ(run({"selftest", "--device", "gpu"}), 4);
  EXPECT_NE(err_.str().find("--device"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("cuda"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, writes_the_selftest_as_json_a_matrix_per_device) {
  EXPECT_EQ(run({"selftest", "--format", "json"}), 0) << err_.str();
  const auto all = nlohmann::json::parse(out_.str());
  EXPECT_EQ(all["sound"], true);
  ASSERT_EQ(all["devices"].size(), 2u);
  const auto& cpu = all["devices"][0];
  EXPECT_EQ(cpu["device"], "cpu");
  EXPECT_EQ(cpu["sound"], true);
  ASSERT_EQ(cpu["mutants"].size(), all_faults().size());
  EXPECT_EQ(cpu["mutants"][0]["by_fill"].size(), 6u);
  EXPECT_EQ(cpu["correct"]["by_fill"]["normal"]["verdict"], "passed");
  const auto& cuda = all["devices"][1];
  EXPECT_EQ(cuda["device"], "cuda");
  if (const std::string absence = cuda_absence(); absence.empty()) {
    const std::vector<Fault> faults = all_faults();
    const auto of_cpu_alone = std::ranges::count_if(faults, is_of_delta_net);
    EXPECT_EQ(std::ssize(cuda["mutants"]), std::ssize(faults) - of_cpu_alone);
  } else {
    EXPECT_EQ(cuda["absence"], absence);
  }
}

TEST_F(CommandLine, writes_json_alone_to_standard_output) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "-"}), 0);
  EXPECT_EQ(out_.str().front(), '{');
  EXPECT_NE(out_.str().find("\"schema_version\""), std::string::npos);
}

TEST_F(CommandLine, lists_backends_with_reasons_and_models) {
  EXPECT_EQ(run({"list", "backends"}), 0);
  EXPECT_NE(out_.str().find("cpu_flash"), std::string::npos);
  EXPECT_NE(out_.str().find("absent: not on this machine"), std::string::npos);
  const std::size_t variant = out_.str().find("\nsplitkv:dynamic ");
  ASSERT_NE(variant, std::string::npos);
  EXPECT_NE(out_.str().find("(only by name)\n", variant), std::string::npos);
  EXPECT_EQ(run({"list", "models"}), 0);
  EXPECT_NE(out_.str().find("deepseek-v3"), std::string::npos);
  EXPECT_NE(out_.str().find("12 full, 36 chunked; chunk 8192\n    the full layers have no RoPE\n"),
            std::string::npos);
}

TEST_F(CommandLine, prints_what_a_model_s_name_leaves_unsaid) {
  const std::string path = testing::TempDir() + "cli_test_notes.yaml";
  std::ofstream(path) << "defaults: {model: gemma-3-1b}\n"
                         "mixes: {a: {batch: 1q1s8}, b: {layer: sliding, batch: 1q1s8}}\n";
  const char* full = "4 of 26 layers: full; not 22 sliding\n";
  const char* sliding = "22 of 26 layers: sliding over 512 keys; not 4 full\n";
  EXPECT_EQ(run({"expand", path.c_str()}), 0);
  EXPECT_NE(out_.str().find(full), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find(sliding), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", path.c_str(), "--quick", "--case", "a", "--backend", "torch_native"}), 0);
  EXPECT_NE(out_.str().find(full), std::string::npos) << out_.str();
  std::filesystem::remove(path);
}

/// Verdicts of the records that a run's JSON holds.
std::vector<std::string> verdicts_in(const std::string& json) {
  std::vector<std::string> verdicts;
  const auto run = nlohmann::json::parse(json);
  for (const auto& record : run["records"]) {
    verdicts.push_back(record["verdict"]);
  }
  return verdicts;
}

TEST_F(CommandLine, runs_gated_delta_nets_and_refuses_them_for_backends_of_keys) {
  const std::string path = ATTNBENCH_SOURCE_DIR "/scenarios/ci/linear.yaml";
  EXPECT_EQ(run({"run", path.c_str(), "--quick", "--case", "mix", "--backend",
                 "gated_delta_net,cpu_flash", "--json", "-"}),
            0)
      << err_.str();
  EXPECT_EQ(verdicts_in(out_.str()), (std::vector<std::string>{"passed", "unsupported"}));
  EXPECT_NE(out_.str().find("no recurrent layers"), std::string::npos);
}

TEST_F(CommandLine, expands_and_dumps_the_states_of_a_gated_delta_net) {
  const std::string path = ATTNBENCH_SOURCE_DIR "/scenarios/ci/linear.yaml";
  EXPECT_EQ(run({"expand", path.c_str(), "--case", "mix", "--indices", "csr"}), 0) << err_.str();
  for (const char* text : {"gated delta net", "2 key heads", "4 value heads", "states f32",
                           "state_indices", "has no KV cache to index"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  const std::string folder = folder_ + "dump";
  EXPECT_EQ(run({"dump", path.c_str(), "--case", "mix", "-o", folder.c_str(), "--backend",
                 "gated_delta_net"}),
            0)
      << err_.str();
  for (const char* name : {"q", "k", "v", "g", "beta", "states_before", "state_indices",
                           "states_gated_delta_net", "out_gated_delta_net", "reference_rows"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name + ".npy")) << name;
  }
}

}  // namespace
}  // namespace attnbench
