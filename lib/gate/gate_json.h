// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/gate/compare.h"
#include "lib/report/json.h"

namespace attnbench {

/// A cell as write_gate_json() has it; speed is null where a side has no time.
[[nodiscard]] Json comparison_json(const Comparison& each);

}  // namespace attnbench
