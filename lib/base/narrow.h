// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "lib/base/error.h"

namespace attnbench {

/// `value` as the int32 that kernels expect of index arrays; InternalError when it does not fit.
[[nodiscard]] inline std::int32_t narrow_i32(std::int64_t value) {
  expects(value >= std::numeric_limits<std::int32_t>::min() &&
              value <= std::numeric_limits<std::int32_t>::max(),
          "an index does not fit into 32 bits");
  return static_cast<std::int32_t>(value);
}

}  // namespace attnbench
