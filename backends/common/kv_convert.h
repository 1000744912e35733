// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"

namespace attnbench {

/// n stored elements as floats, with the instructions that every processor here has.
void widen_row(DType dtype, const std::byte* from, float* to, std::int64_t n);

}  // namespace attnbench
