// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kv_convert.h"

#include "backends/common/kv_convert-inl.h"

namespace attnbench {

void widen_row(DType dtype, const std::byte* from, float* to, std::int64_t n) {
  HWY_NAMESPACE::widen_row(dtype, from, to, n);
}

}  // namespace attnbench
