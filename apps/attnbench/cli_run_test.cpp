// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What `attnbench run` measures, what it says of it, and where it writes it; what `selftest` finds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/device/cpu/cpu_info.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/selftest/fault.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, measures_as_its_options_say) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--rounds", "7",
                 "--precision", "0.3%"}),
            0)
      << err_.str();
  EXPECT_NE(out_.str().find("*: above 0.3 %"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--rounds",
                 "100000", "--cell-timeout", "50ms", "--json", "-"}),
            0);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["records"][0]["status"], "not converged");
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

constexpr const char* kMixed = R"(
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 16}, dtype: f32}
mixes:
  mix: {batch: [{count: 2, mode: decode, kv_len: 9}, {mode: extend, q_len: 5, prefix_len: 20}]}
  one: {batch: [{count: 2, mode: decode, kv_len: 9}]}
measure: {cache: [warm]}
verify: {rows: 8}
)";

TEST_F(CommandLine, tries_every_pair_of_backends_in_the_mixed_cases_and_names_the_best) {
  const std::string mixed = folder_ + "mixed.yaml";
  std::ofstream(mixed) << kMixed;
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick", "--hybrid", "best", "--backend",
                 "torch_native,cpu_flash", "--json", "-"}),
            0)
      << err_.str();
  const auto root = nlohmann::json::parse(out_.str());
  std::vector<std::string> ran;
  for (const auto& record : root["records"]) {
    EXPECT_EQ(record["case"], "mix") << "decodes alone are the work of one part";
    EXPECT_EQ(record["verdict"], "passed") << record["reason"];
    ran.push_back(record["backend"]);
  }
  EXPECT_EQ(ran, (std::vector<std::string>{"torch_native", "cpu_flash", "torch_native+cpu_flash",
                                           "cpu_flash+torch_native"}));
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick", "--hybrid", "best", "--backend",
                 "torch_native,cpu_flash"}),
            0);
  EXPECT_NE(out_.str().find("is the best of 4 choices"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick", "--hybrid", "best", "--case", "one"}), 4);
  EXPECT_NE(err_.str().find("no case mixes prompts and decodes"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick", "--hybrid", "best", "--backend", "cpu_flash"}),
            4);
  EXPECT_NE(err_.str().find("no two backends can be a pair"), std::string::npos) << err_.str();
  std::filesystem::remove(mixed);
}

TEST_F(CommandLine, runs_the_pair_of_a_scenario_beside_its_parts_and_points_at_one_that_cannot_be) {
  const std::string mixed = folder_ + "mixed.yaml";
  std::ofstream(mixed) << kMixed << "hybrid: {prefill: cpu_flash, decode: torch_native}\n";
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick", "--json", "-"}), 0) << err_.str();
  const auto root = nlohmann::json::parse(out_.str());
  ASSERT_EQ(root["records"].size(), 6u);
  EXPECT_EQ(root["records"][2]["backend"], "cpu_flash+torch_native");
  std::ofstream(mixed) << kMixed << "hybrid: {prefill: cpu_flash, decode: tosh_native}\n";
  EXPECT_EQ(run({"run", mixed.c_str(), "--quick"}), 4);
  EXPECT_NE(err_.str().find("mixed.yaml:8:9: error: backend 'cpu_flash+tosh_native': there is no "
                            "backend 'tosh_native'"),
            std::string::npos)
      << err_.str();
  std::filesystem::remove(mixed);
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

TEST_F(CommandLine, prints_what_a_model_s_name_leaves_unsaid) {
  const std::string path = testing::TempDir() + "cli_test_notes.yaml";
  std::ofstream(path) << "defaults: {model: gemma-3-1b}\n"
                         "mixes: {a: {batch: 1q1s8}, b: {layer: sliding, batch: 1q1s8}}\n";
  const char* full = "this layer is full, as 4 of 26 are; the others: 22 sliding\n";
  const char* sliding =
      "this layer is sliding over 512 keys, as 22 of 26 are; the others: 4 full\n";
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

TEST_F(CommandLine, sums_a_model_s_step_from_a_run_its_shards_and_a_resumed_one) {
  std::ofstream(scenario_) << R"(
defaults: {model: gemma-3-1b, tp: 4, layers: all}
mixes: {chat: {batch: 2q1s9}}
measure: {cache: [warm], rounds: [6, 6], samples: [1, 1], block: 1ms}
verify: {rows: 8}
backends: [torch_native]
)";
  // With rough ceilings, and yet as many rounds as an interval needs.
  const auto measured = [&](std::vector<const char*> words) {
    words.insert(words.begin(), {"run", scenario_.c_str(), "--quick", "--rounds", "6"});
    return run(words);
  };
  const auto steps_of = [&](const std::string& file) {
    std::ifstream json(folder_ + file);
    return nlohmann::json::parse(json)["model_steps"];
  };
  const std::string first = folder_ + "1.json", second = folder_ + "2.json",
                    merged = folder_ + "merged.json";
  ASSERT_EQ(measured({"--json", first.c_str(), "--shard", "1/2"}), 0) << err_.str();
  EXPECT_EQ(steps_of("1.json")[0]["reason"], "the results have 4 of its 26 layers");
  EXPECT_TRUE(steps_of("1.json")[0]["model_step_us"].is_null());
  ASSERT_EQ(measured({"--json", second.c_str(), "--shard", "2/2"}), 0);
  ASSERT_EQ(run({"merge", first.c_str(), second.c_str(), "-o", merged.c_str()}), 0) << err_.str();
  const auto joined = steps_of("merged.json");
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_GT(joined[0]["model_step_us"], 0);
  EXPECT_LE(joined[0]["lo_us"], joined[0]["model_step_us"]);
  EXPECT_EQ(joined[0]["parts"][1]["layers"], 22);
  ASSERT_EQ(measured({"--resume", first.c_str()}), 0) << err_.str();
  const auto resumed = steps_of("1.json");
  EXPECT_EQ(resumed[0]["parts"][0], joined[0]["parts"][0]) << "measured once";
  EXPECT_GT(resumed[0]["model_step_us"], 0);
  EXPECT_NE(out_.str().find("model steps: all layers of a model"), std::string::npos) << out_.str();
}

TEST_F(CommandLine, writes_the_rows_of_aiconfigurator_at_once_or_afterwards) {
  std::ofstream(scenario_) << R"(
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: bf16
mixes:
  decodes: {batch: [{count: 2, mode: decode, kv_len: 9}]}
  prompts: {batch: [{count: 2, mode: extend, prefix_len: 0, q_len: 5}]}
  window: {attention: {window: {keys: 4}}, batch: [{mode: extend, prefix_len: 0, q_len: 7}]}
  uneven: {batch: [{mode: decode, kv_len: 9}, {mode: decode, kv_len: 8}]}
  drafts: {batch: [{mode: target_verify, kv_len: 9, tree: {chain: 2}}]}
measure: {cache: [warm], rounds: [6, 6], samples: [1, 1], block: 1ms}
verify: {rows: 8}
backends: [torch_native]
)";
  const std::string json = folder_ + "r.json", csv = folder_ + "rows.csv",
                    again = folder_ + "again.csv";
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_EQ(run({"run", scenario_.c_str(), "--quick", "--rounds", "6", "-o", json.c_str(), "-o",
                 csv.c_str(), "--format", "aiconfigurator"}),
            0)
      << err_.str();
  const std::string said = err_.str(), rows = text_of(csv);
  EXPECT_NE(said.find("rows.csv: 3 of 5 cells have a row; not the others: 1 that are neither "
                      "prompts nor decodes, 1 whose requests differ in length\n"),
            std::string::npos)
      << said;
  for (const char* row : {",generation_attention,torch_native,2,1,4,2,32,0,1,bfloat16,bfloat16,8,",
                          ",context_attention,torch_native,2,5,4,2,32,0,1,bfloat16,bfloat16,0,",
                          ",context_attention,torch_native,1,7,4,2,32,4,1,bfloat16,bfloat16,0,"}) {
    EXPECT_NE(rows.find(row), std::string::npos) << rows;
  }
  ASSERT_EQ(run({"merge", json.c_str(), "-o", again.c_str(), "--format", "aiconfigurator"}), 0)
      << err_.str();
  EXPECT_EQ(text_of(again), rows);
  EXPECT_NE(err_.str().find("again.csv: 3 of 5 cells have a row"), std::string::npos) << err_.str();

  EXPECT_EQ(run({"merge", json.c_str(), "-o", "x.md", "--format", "aiconfigurator"}), 4);
  EXPECT_NE(err_.str().find("-o FILE.csv is missing"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"merge", json.c_str(), "-o", again.c_str(), "--format", "aicfg"}), 4);
  EXPECT_NE(err_.str().find("aiconfigurator"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_5_on_a_full_disk_and_prints_the_results_instead) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "/dev/full"}), 5);
  EXPECT_NE(err_.str().find("No space left on device"), std::string::npos) << err_.str();
  EXPECT_NE(out_.str().find("torch_native"), std::string::npos);
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

TEST_F(CommandLine, writes_json_alone_to_standard_output) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "-"}), 0);
  EXPECT_EQ(out_.str().front(), '{');
  EXPECT_NE(out_.str().find("\"schema_version\""), std::string::npos);
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

}  // namespace
}  // namespace attnbench
