// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// What speaks against the figures of a run, a sentence each: "other programs kept 1.4 of 2
/// processors busy", "3 figures are of a device that slowed down (throttled)", "2 cells are
/// MISTRUSTED: zeros would pass …". None where nothing does.
[[nodiscard]] std::vector<std::string> doubts_of(const RunResult& run);

}  // namespace attnbench
