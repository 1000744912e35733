// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench::cuda {

/// Head dims 72 and 80, of vision transformers (SigLIP, Qwen2.5-VL), share the kernels of this one.
inline constexpr int kPaddedDim = 80;

/// Of a kernel's K and V rows. T is the type of the activations and of the tensor cores' operands;
/// Kv of the cache.
template <class T_, class Kv_, int kDk_, int kDv_>
struct Shape {
  using T = T_;
  using Kv = Kv_;
  static constexpr int kDk = kDk_;
  static constexpr int kDv = kDv_;
  static constexpr bool kFp8 = sizeof(Kv) == 1;
  /// Rows in memory may be shorter: zeros fill them up.
  static constexpr bool kPadded = kDk == kPaddedDim;
  static constexpr int kRowBytesQ = 2 * kDk;
  static constexpr int kRowBytesK = kDk * static_cast<int>(sizeof(Kv));
  static constexpr int kRowBytesV = kDv * static_cast<int>(sizeof(Kv));
};

}  // namespace attnbench::cuda
