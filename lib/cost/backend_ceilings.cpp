// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/backend_ceilings.h"

#include <algorithm>

#include "lib/base/dtype.h"

namespace attnbench {

Ceilings ceilings_of_backend(const Ceilings& measured, DeviceKind kind,
                             std::span<const Numerics> numerics) {
  constexpr double kFp8OverBf16 = 2;
  const auto in_fp8 = [](const Numerics& step) {
    return size_bytes(step.qk_input) == 1 || size_bytes(step.p) == 1;
  };
  Ceilings ceilings = measured;
  if (kind == DeviceKind::kCuda && std::ranges::any_of(numerics, in_fp8)) {
    ceilings.flop_per_s *= kFp8OverBf16;
  }
  return ceilings;
}

}  // namespace attnbench
