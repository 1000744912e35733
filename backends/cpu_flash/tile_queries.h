// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu_flash/flash_kernels.h"
#include "backends/cpu_flash/plan.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::cpu_flash {

/// Lays out form `variant` of the item's queries in scratch for the product that will read them.
[[nodiscard]] QueryLayout load_queries(const ForwardBatch& batch, const Item& item, int variant,
                                       const Kernels& kernels, const Geometry& g, const Scratch& s);

}  // namespace attnbench::cpu_flash
