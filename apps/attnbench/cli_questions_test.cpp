// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// The commands that measure nothing: expand, dump, profile, support, list.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/attnbench/testing/command_line.h"

namespace attnbench {
namespace {

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

TEST_F(CommandLine, knows_the_pair_of_a_file_and_of_the_command_line_in_every_command) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/pair.yaml";
  std::ofstream(file) << kTiny << "hybrid: {prefill: cpu_flash, decode: torch_native}\n";
  EXPECT_EQ(run({"support", file.c_str()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("cpu_flash+torch_native"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"expand", file.c_str()}), 0) << err_.str();
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 0) << err_.str();
  EXPECT_EQ(run({"support", file.c_str(), "--backend", "torch_native+cpu_flash"}), 0);
  EXPECT_NE(out_.str().find("torch_native+cpu_flash"), std::string::npos) << out_.str();
  const std::string arrays = folder + "/arrays";
  EXPECT_EQ(run({"dump", file.c_str(), "--backend", "torch_native+cpu_flash:split_keys=128", "-o",
                 arrays.c_str()}),
            0)
      << err_.str();
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
