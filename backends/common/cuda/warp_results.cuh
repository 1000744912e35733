// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

namespace attnbench::cuda {

/// Length of an output row in shared memory: eight rows that a warp writes at once fall into
/// different banks.
template <int kDv>
inline constexpr int kRowFloats = kDv + 8;

/// What the warps of a block made of the same rows, each of other keys, in shared memory: sums of
/// weighted values, of weights, and the highest logit, in base 2, that the weights are relative to.
template <int kWarps, int kRows, int kDv>
struct WarpResults {
  static constexpr int kBytes = 4 * kWarps * kRows * (kRowFloats<kDv> + 2);

  float* outs;     ///< [warps, rows, kRowFloats]
  float* highest;  ///< [warps, rows]
  float* sums;     ///< [warps, rows]

  __device__ __forceinline__ explicit WarpResults(std::byte* shared)
      : outs(reinterpret_cast<float*>(shared)),
        highest(outs + kWarps * kRows * kRowFloats<kDv>),
        sums(highest + kWarps * kRows) {}

  /// Of a warp's row.
  [[nodiscard]] __device__ __forceinline__ float* out(int warp, int row) const {
    return outs + (warp * kRows + row) * kRowFloats<kDv>;
  }
  __device__ __forceinline__ void set(int warp, int row, float row_highest, float row_sum) const {
    highest[warp * kRows + row] = row_highest;
    sums[warp * kRows + row] = row_sum;
  }

  /// All warps' together: a row's highest logit and sum, and values d to d + 3.
  struct Merged {
    float highest = -INFINITY;
    float sum = 0;
    float values[4] = {};
  };
  [[nodiscard]] __device__ __forceinline__ Merged merged(int row, int d) const {
    Merged all;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all.highest = fmaxf(all.highest, highest[w * kRows + row]);
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float factor =
          all.highest == -INFINITY ? 0.0f : exp2f(highest[w * kRows + row] - all.highest);
      all.sum += factor * sums[w * kRows + row];
      const float4 part = *reinterpret_cast<const float4*>(out(w, row) + d);
      all.values[0] += factor * part.x;
      all.values[1] += factor * part.y;
      all.values[2] += factor * part.z;
      all.values[3] += factor * part.w;
    }
    return all;
  }
};

}  // namespace attnbench::cuda
