// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attnbench {

/// A package whose versions pip finds for an interpreter.
struct PackageSource {
  std::string python, package;
  bool with_pre_releases = false;
  std::function<bool()> stop_requested = {};
};

/// The oldest first. Throws ConfigError where there is no such package, and EnvironmentError where
/// pip cannot tell.
[[nodiscard]] std::vector<std::string> released_versions(const PackageSource& source);

/// "FIRST..LAST" of the released ones, both included. Throws ConfigError unless these are two, in
/// this order.
[[nodiscard]] std::vector<std::string> versions_in(const std::string& range,
                                                   const std::vector<std::string>& released,
                                                   const std::string& package);

/// An environment that holds one version beside all that the interpreter has.
struct PackageEnvironment {
  std::string python;  ///< empty: none
  std::string absent;  ///< why the version cannot be had; empty: it can
};
/// Makes one in the user's cache folder, or finds it there. Throws EnvironmentError where no
/// version could be had: no pip, disk full.
[[nodiscard]] PackageEnvironment environment_with(const PackageSource& source,
                                                  const std::string& version);

}  // namespace attnbench
