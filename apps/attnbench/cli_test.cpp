// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Every exit code once, through the whole command line, with backends that behave as the code
// demands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "apps/attnbench/command.h"
#include "backends/register.h"
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/verify/fault.h"

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
class LazyBackend : public AttentionBackend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case&, const Device&) const override {
    return Support::yes();
  }
  void init_forward_metadata(const ForwardBatch&, const AttentionLayer&, Workspace&) override {}

 protected:
  void forward_decode(const AttentionIo&, Stream&) override {}
  void forward_extend(const AttentionIo&, Stream&) override {}

 private:
  BackendInfo info_{.name = "lazy",
                    .version = "1",
                    .description = "writes nothing",
                    .index_format = "none",
                    .device = DeviceKind::kCpu,
                    .deterministic = true};
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
    std::ofstream(scenario_) << kTiny;
  }
  void TearDown() override { std::filesystem::remove(scenario_); }

  Registry registry_;
  std::string scenario_ = testing::TempDir() + "cli_test_tiny.yaml";
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
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--cache", "warm", "serving"}), 0)
      << err_.str();
  EXPECT_NE(out_.str().find("serv"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--cache", "servin"}), 4);
  EXPECT_NE(err_.str().find("did you mean 'serving'?   allowed here: cold serving warm"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"run", "--help"}), 0);
  EXPECT_NE(out_.str().find("--cache STATE ..."), std::string::npos) << out_.str();
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

TEST_F(CommandLine, exits_70_on_a_defect_of_its_own) {
  registry_.add([]() -> std::unique_ptr<AttentionBackend> {
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
    EXPECT_EQ(cuda["mutants"].size(), all_faults().size());
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

}  // namespace
}  // namespace attnbench
