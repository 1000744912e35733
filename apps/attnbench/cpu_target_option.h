// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "lib/device/cpu/cpu_info.h"

namespace attnbench {

/// --cpu-target of the commands that run CPU backends.
struct CpuTargetOption {
  std::string name;  ///< empty: not given

  void add_to(CLI::App& command) {
    command
        .add_option("--cpu-target", name,
                    "instruction set of CPU kernels: avx2, avx512, avx512_bf16, neon; the best "
                    "that this processor has if not given")
        ->option_text("NAME");
  }

  /// Throws as cpu_target_named does, which is why it waits until the command runs.
  [[nodiscard]] CpuTarget target() const {
    return name.empty() ? best_cpu_target() : cpu_target_named(name);
  }
};

}  // namespace attnbench
