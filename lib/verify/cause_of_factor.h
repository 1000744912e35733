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

/// The factor by which all logits of a row are off: "logits 1.41 times as large (scale 1/sqrt(64)
/// for 1/sqrt(128)?)", where one gives the row that a backend got wrong, O and LSE. Well-known
/// factors are tried first; of rows of up to 8k keys any other is fitted. `right` is the row as it
/// should be, `got` O in the case's dtype with its LSE as f32 behind it. Empty where no factor
/// explains the row, and where O is right or the row sees too few keys to tell.
[[nodiscard]] std::string cause_of_factor(const Case& c, const Contents& contents,
                                          const Numerics& numerics, const ReferenceRow& right,
                                          std::span<const std::byte> got);

}  // namespace attnbench
