// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/wrappers/merge_states.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

void merge_row(const StatesToMerge& states, std::int64_t token, std::int64_t head) {
  const AttentionState &a = states.a, &b = states.b, &to = states.to;
  const float lse_a = load(DType::kF32, a.lse.row(token, head));
  const float lse_b = load(DType::kF32, b.lse.row(token, head));
  const float top = std::max(lse_a, lse_b);
  const bool empty = top == -std::numeric_limits<float>::infinity();
  const float weight_a = empty ? 0 : std::exp(lse_a - top);
  const float weight_b = empty ? 0 : std::exp(lse_b - top);
  const float sum = weight_a + weight_b, factor = empty ? 0 : 1 / (sum * to.out_scale);
  store(DType::kF32, to.lse.row(token, head), empty ? top : top + std::log(sum));
  const auto elements_of = [&](const AttentionState& state) {
    return reinterpret_cast<const float*>(state.out.row(token, head));
  };
  const float *out_a = elements_of(a), *out_b = elements_of(b);
  std::byte* const out = to.out.row(token, head);
  const std::int64_t size = size_bytes(to.out.dtype);
  for (std::int64_t d = 0; d < to.out.shape[2]; ++d) {
    store(to.out.dtype, out + d * size, (weight_a * out_a[d] + weight_b * out_b[d]) * factor);
  }
}

}  // namespace

void merge_states_on_cpu(const StatesToMerge& states, Stream&) {
  expects(states.a.out.dtype == DType::kF32 && states.b.out.dtype == DType::kF32,
          "a processor merges states in f32");
  const std::int64_t heads = states.to.out.shape[1];
  const std::int64_t tokens = states.tokens == nullptr ? states.to.out.shape[0] : *states.tokens;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < tokens * heads; ++row) {
    merge_row(states, row / heads, row % heads);
  }
}

}  // namespace attnbench
