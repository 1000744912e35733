// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"

namespace attnbench {

/// A borrowed tensor of rank 3, [tokens, heads, dim]: address of element (t, h, d) is
/// data + (t * stride[0] + h * stride[1] + d) * size_bytes(dtype). Strides count elements.
template <class Byte>
struct BasicTensorView {
  Byte* data = nullptr;
  DType dtype = DType::kF32;
  std::array<std::int64_t, 3> shape{};
  std::array<std::int64_t, 2> stride{};

  [[nodiscard]] constexpr Byte* row(std::int64_t token, std::int64_t head) const {
    return data + (token * stride[0] + head * stride[1]) * size_bytes(dtype);
  }
  [[nodiscard]] std::int64_t size() const { return shape[0] * shape[1] * shape[2]; }

  /// A dense tensor at `data`.
  [[nodiscard]] static BasicTensorView dense(Byte* data, DType dtype, std::int64_t tokens,
                                             std::int64_t heads, std::int64_t dim) {
    return {data, dtype, {tokens, heads, dim}, {heads * dim, dim}};
  }

  /// The same tensor, read-only.
  [[nodiscard]] BasicTensorView<const std::byte> read_only() const {
    return {data, dtype, shape, stride};
  }
};

using TensorView = BasicTensorView<std::byte>;
using ConstTensorView = BasicTensorView<const std::byte>;

}  // namespace attnbench
