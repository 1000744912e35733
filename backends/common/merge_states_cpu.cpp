// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/common/merge_states.h"

namespace attnbench {
namespace {

void merge_row(const AttentionState& a, const AttentionState& b, const AttentionState& to,
               std::int64_t token, std::int64_t head) {
  const float lse_a = load(DType::kF32, a.lse.row(token, head));
  const float lse_b = load(DType::kF32, b.lse.row(token, head));
  const float top = std::max(lse_a, lse_b);
  const bool empty = top == -std::numeric_limits<float>::infinity();
  const float weight_a = empty ? 0 : std::exp(lse_a - top);
  const float weight_b = empty ? 0 : std::exp(lse_b - top);
  const float sum = weight_a + weight_b, factor = empty ? 0 : 1 / sum;
  store(DType::kF32, to.lse.row(token, head), empty ? top : top + std::log(sum));
  const auto element = [&](const TensorView& from, std::int64_t d) {
    return load(from.dtype, from.row(token, head) + d * size_bytes(from.dtype));
  };
  for (std::int64_t d = 0; d < to.out.shape[2]; ++d) {
    const float value = weight_a * element(a.out, d) + weight_b * element(b.out, d);
    store(to.out.dtype, to.out.row(token, head) + d * size_bytes(to.out.dtype), value * factor);
  }
}

}  // namespace

void merge_states_on_cpu(const AttentionState& a, const AttentionState& b, const AttentionState& to,
                         Stream&) {
  const std::int64_t tokens = to.out.shape[0], heads = to.out.shape[1];
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < tokens * heads; ++row) {
    merge_row(a, b, to, row / heads, row % heads);
  }
}

}  // namespace attnbench
