// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace attnbench::gated_delta_net {

/// Value dims that are carried through all tokens of a request at a time: with 128 key dims their
/// part of the state is 16 KiB and stays in the first cache.
inline constexpr int kColumns = 32;

/// A token as the rule takes it: f32, q and k normalised, q times the scale.
struct Token {
  const float* q;  ///< [K]
  const float* k;  ///< [K]
  const float* v;  ///< [kColumns]
  float g;
  float beta;
};

/// x / sqrt(sum x^2 + 1e-6) * factor, in place.
inline void normalise(float* x, std::int64_t n, float factor) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t d = 0; d < n; ++d) sum += x[d] * x[d];
  const float by = factor / std::sqrt(sum + 1e-6f);
#pragma omp simd
  for (std::int64_t d = 0; d < n; ++d) x[d] *= by;
}

/// One token over kColumns value dims: updates their part of the state, [K, kColumns], and writes
/// their output. Columns are independent of one another, so those beyond a head's last value dim
/// may hold zeros.
inline void step(float* state, std::int64_t dim_k, const Token& token, float* out) {
  float w[kColumns] = {}, sum[kColumns] = {};
  const float decay = std::exp(token.g);
  for (std::int64_t d = 0; d < dim_k; ++d) {
    float* const row = state + d * kColumns;
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) {
      row[c] *= decay;
      w[c] += token.k[d] * row[c];
    }
  }
#pragma omp simd
  for (int c = 0; c < kColumns; ++c) w[c] = token.beta * (token.v[c] - w[c]);
  for (std::int64_t d = 0; d < dim_k; ++d) {
    float* const row = state + d * kColumns;
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) {
      row[c] += token.k[d] * w[c];
      sum[c] += token.q[d] * row[c];
    }
  }
  for (int c = 0; c < kColumns; ++c) out[c] = sum[c];
}

}  // namespace attnbench::gated_delta_net
