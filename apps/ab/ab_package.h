// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "lib/gate/ab.h"
#include "lib/gate/ab_process.h"
#include "lib/gate/package_versions.h"

namespace attnbench {

/// What `ab --package` takes besides what a comparison takes.
struct PackageOptions {
  PackageSource source;
  std::string range;  ///< FIRST..LAST
};

/// Names the version of a package that changed each cell, and writes it to all its places. Of
/// `programs` the interpreters are set for each comparison. Returns the exit code.
[[nodiscard]] int ab_package(PackageOptions options, const AbPrograms& programs,
                             const AbConfig& config, std::chrono::duration<double> process_limit,
                             const GateOptions& gate, Console& console);

}  // namespace attnbench
