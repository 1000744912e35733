// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/attnbench/run_options.h"

namespace attnbench {

/// `run --hybrid best`: beside the run's backends, every pair of two of them that can be one, the
/// first for prompts and the second for decodes; and of its cases the mixed ones, since only there
/// do both parts of a pair work. Throws ConfigError where there is no such case or no such pair.
void add_pairs(PlannedRun& run);

}  // namespace attnbench
