// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/gate/compare.h"
#include "lib/gate/speed.h"
#include "lib/view/json.h"

namespace attnbench {

/// Both times, their ratio and the clock's; cycles_ratio is null where a clock is not known, pairs
/// where there were none.
[[nodiscard]] Json speed_json(const SpeedEvidence& speed);

/// A cell as write_gate_json() has it; speed is null where a side has no time.
[[nodiscard]] Json comparison_json(const Comparison& each);

}  // namespace attnbench
