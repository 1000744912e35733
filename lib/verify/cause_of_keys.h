// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lib/backend/numerics.h"
#include "lib/contents/contents.h"
#include "reference/oracle.h"

namespace attnbench {

/// Which keys and values, taken for the row's own, give it: those of another KV head or request,
/// other columns of a latent row, or those that a tree's mask shows where it is read with a wrong
/// size or place. Empty where none of these does, and for layers with ALiBi, a temperature or dual
/// chunks. `got` as in likely_cause(), and finite.
[[nodiscard]] std::string cause_of_keys(const Case& c, const Contents& contents,
                                        const Numerics& numerics, const RowId& id,
                                        std::span<const std::byte> got);

}  // namespace attnbench
