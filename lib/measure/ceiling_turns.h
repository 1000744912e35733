// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "lib/cost/cost.h"

namespace attnbench {

/// The best of each rate over turns of `measure`: until a turn comes to what the ones before it
/// had, within 2 %, but no more than `most`. On a machine at rest the second one does; what
/// disturbs it seldom lowers all rates of two turns alike.
[[nodiscard]] Ceilings best_of_turns(int most, const std::function<Ceilings()>& measure);

}  // namespace attnbench
