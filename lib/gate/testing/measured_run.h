// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// A cell that passed and converged within 0.4 %, cold and eager, with twelve equal blocks.
[[nodiscard]] Record measured_cell(const std::string& case_id, const std::string& backend,
                                   double median_us);

/// A run of one scenario, "serving", on an H200.
[[nodiscard]] RunResult measured_run(std::initializer_list<Record> records);

}  // namespace attnbench
