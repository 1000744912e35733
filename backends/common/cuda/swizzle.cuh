// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench::cuda {

/// Where chunk `chunk` (16 bytes) of row `row` lies in a row of kChunks: eight rows that ldmatrix
/// reads at once fall into different banks.
template <int kChunks>
__device__ __forceinline__ constexpr int swizzle(int row, int chunk) {
  constexpr int kSpan = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : 2;
  static_assert(kChunks % 2 == 0);
  return chunk ^ ((row / (8 / kSpan)) & (kSpan - 1));
}

}  // namespace attnbench::cuda
