// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// Everything of a run but its records, as results/schema.json says.
[[nodiscard]] Json run_json(const RunResult& run);

/// Whether this attnbench reads files of schema `version`: what results say is found by its name,
/// so that the first number decides. Throws EnvironmentError for a newer one, and ConfigError for
/// what is no version.
void expect_readable(const Json& version);

/// What run_json() wrote, into a run without records. Throws ConfigError with the path of what is
/// missing or no value of its kind, as JsonFields does.
[[nodiscard]] RunResult run_from_json(const Json& json);

}  // namespace attnbench
