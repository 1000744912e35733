// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/run_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace attnbench {
namespace {

/// The first of several facts that differs.
class Comparison {
 public:
  template <class T>
  Comparison& fact(const char* name, const T& a, const T& b) {
    if (found_.empty() && a != b) found_ = fmt::format("{} '{}' and '{}'", name, a, b);
    return *this;
  }
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  std::string found_;
};

/// Two folders may hold two builds of one plug-in.
std::string file_name(const InputFile& file) {
  return std::filesystem::path(file.path).filename().string();
}

/// Of files that name their configs.
std::string config_difference(const ScenarioSource& a, const ScenarioSource& b) {
  for (const InputFile& x : a.configs) {
    const auto y = std::ranges::find(b.configs, x.path, &InputFile::path);
    if (y == b.configs.end() || x.sha256 == y->sha256) continue;
    return fmt::format("SHA-256 of {} '{}' and '{}'", x.path, x.sha256, y->sha256);
  }
  return {};
}

}  // namespace

std::string machine_difference(const RunResult& a, const RunResult& b) {
  const Environment &x = a.environment, &y = b.environment;
  return Comparison()
      .fact("device", x.device.name, y.device.name)
      .fact("architecture", x.device.arch, y.device.arch)
      .fact("driver", x.device.driver, y.device.driver)
      .fact("CUDA", x.device.cuda_version, y.device.cuda_version)
      .fact("threads or multiprocessors", x.device.units, y.device.units)
      .fact("system", x.os, y.os)
      .fact("host", x.hostname_hash, y.hostname_hash)
      .found();
}

std::string binary_difference(const RunResult& a, const RunResult& b) {
  const Environment &x = a.environment, &y = b.environment;
  return Comparison()
      .fact("version", x.version, y.version)
      .fact("commit", x.git_sha, y.git_sha)
      .fact("compiler", x.compiler, y.compiler)
      .fact("build type", x.build_type, y.build_type)
      .fact("flags", x.flags, y.flags)
      .found();
}

std::string plugin_difference(const RunResult& a, const RunResult& b) {
  for (const InputFile& x : a.plugins) {
    for (const InputFile& y : b.plugins) {
      if (file_name(x) != file_name(y) || x.sha256 == y.sha256) continue;
      return fmt::format("SHA-256 of plug-in {} '{}' and of {} '{}'", x.path, x.sha256, y.path,
                         y.sha256);
    }
  }
  return {};
}

std::string scenario_difference(const RunResult& a, const RunResult& b) {
  for (const ScenarioSource& x : a.scenarios) {
    const auto y = std::ranges::find(b.scenarios, x.name, &ScenarioSource::name);
    if (y == b.scenarios.end()) continue;
    std::string found = Comparison()
                            .fact("SHA-256", x.sha256, y->sha256)
                            .fact("seed", x.seed, y->seed)
                            .fact("options", x.options, y->options)
                            .found();
    if (found.empty()) found = config_difference(x, *y);
    if (!found.empty()) return fmt::format("scenario {}: {}", x.name, found);
  }
  return {};
}

}  // namespace attnbench
