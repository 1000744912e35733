// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/result/record.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// A run made by hand with one row of each fate: passed, noisy, wrong (with NaN), unsupported,
/// crashed, mistrusted, interrupted, impossible; with names that hold commas, quotes, pipes and
/// markup.
[[nodiscard]] RunResult sample_run();

/// The scenario that sample_run() pretends to have run: two cases.
[[nodiscard]] Scenario sample_scenario();

/// 12 full layers or 36 sliding ones of a model of 48; its plan takes 10 us.
[[nodiscard]] Record layer_record(const char* kind, const char* backend, double median_us,
                                  StepPart step = StepPart::kAttention);

/// The sample run with these records.
[[nodiscard]] RunResult run_with_layers(std::vector<Record> records);

}  // namespace attnbench
