// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "apps/attnbench/command.h"
#include "lib/gate/ab.h"
#include "lib/gate/ab_process.h"

namespace attnbench {

/// Judges two programs by pairs of their processes, each of which is killed after `limit`. Shows
/// its progress on a terminal, behind `label`, which may be empty; stops where the user asks for
/// it. Throws ConfigError where the first process refuses its command line.
[[nodiscard]] GateReport measured_pairs(const AbPrograms& programs, const AbConfig& config,
                                        std::chrono::duration<double> limit,
                                        const std::string& label, Console& console);

}  // namespace attnbench
