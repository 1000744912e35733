// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/bench/record.h"
#include "lib/report/json.h"

namespace attnbench {

/// A record as the JSON file has it; results/schema.json describes it.
[[nodiscard]] Json record_json(const Record& record);

}  // namespace attnbench
