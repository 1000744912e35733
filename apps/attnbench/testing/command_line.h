// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "backends/register.h"
#include "lib/backend/registry.h"

namespace attnbench {

/// Two decodes, which take no time.
inline constexpr const char* kTiny = R"(
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  tiny:
    batch: [{count: 2, mode: decode, kv_len: 9}]
measure: {cache: [warm]}
verify: {rows: 8}
)";

/// The whole command line with the built-in backends, and a file with kTiny.
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
  /// The same for words that are put together.
  int run(const char* command, const std::vector<std::string>& words) {
    std::vector<const char*> arguments = {command};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return run(std::move(arguments));
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

}  // namespace attnbench
