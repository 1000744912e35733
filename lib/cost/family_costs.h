// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cost/cost.h"

namespace attnbench {

// count_cost() by family.

/// Softmax and latent attention: work for each pair of a query token and a key.
[[nodiscard]] Cost softmax_cost(const Case& c);
/// Gated delta net: work for each token, none for what came before.
[[nodiscard]] Cost delta_net_cost(const Case& c);

}  // namespace attnbench
