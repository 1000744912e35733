// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/gate/compare.h"
#include "lib/result/cell_key.h"

namespace attnbench {

/// What a report of `compare` leaves to a confirmation.
struct Screen {
  std::vector<CellKey> open;     ///< another measurement may decide these
  std::vector<Comparison> gone;  ///< MISSING and SKIPPED_NOW, not allowed: no measurement can
};

/// Reads write_gate_json(): open are SUSPECT, INCONCLUSIVE, NO_VERDICT, and REGRESSED by its time.
/// Throws ConfigError on anything that is no such report.
[[nodiscard]] Screen read_screen(const std::string& path);

}  // namespace attnbench
