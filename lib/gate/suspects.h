// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/bench/cell_key.h"

namespace attnbench {

/// The cells of a report (write_gate_json) that another measurement may decide: SUSPECT,
/// INCONCLUSIVE, NO_VERDICT, and REGRESSED by its time. Throws ConfigError on anything that is no
/// such report.
[[nodiscard]] std::vector<CellKey> read_suspects(const std::string& path);

}  // namespace attnbench
