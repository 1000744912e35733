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

/// Which mistake in reading numbers in fp8 gives the row. Empty where none does,
/// and for layers with ALiBi, a temperature or dual chunks. `got` as in likely_cause(), and finite.
[[nodiscard]] std::string cause_of_scales(const Case& c, const Contents& contents,
                                          const Numerics& numerics, const RowId& id,
                                          std::span<const std::byte> got);

}  // namespace attnbench
