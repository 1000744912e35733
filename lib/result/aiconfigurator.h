// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// CSV in the schema of aiconfigurator's collectors (ai-dynamo/aiconfigurator,
/// collector/*/collect_attn.py), one row a key, context and generation in one file: `op_name` tells
/// them apart. A cell that the schema cannot describe has no row.
void write_aiconfigurator(const RunResult& run, std::ostream& out);

/// How many cells have a row, and why the others have none: "2 of 5 cells; the others: 3 did not
/// pass"; empty where all have one.
[[nodiscard]] std::string left_out_of_aiconfigurator(const RunResult& run);

}  // namespace attnbench
