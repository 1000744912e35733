// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// What is known of the build of this program.
struct BuildInfo {
  std::string version;
  std::string git_sha;  ///< "unknown" where the source was not in git
  std::string build_type, compiler, flags;
};

[[nodiscard]] const BuildInfo& build_info();

/// "0.1.0 1a2b3c4": what a run and its workers, which are of one build, both say.
[[nodiscard]] std::string build_id();

}  // namespace attnbench
