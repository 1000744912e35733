// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/device/device.h"

namespace attnbench {

/// Rows of one length, from and to equally spaced addresses; the bytes between rows are not
/// touched.
struct RowCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t from_stride = 0, to_stride = 0, row_bytes = 0;
  std::int64_t rows = 0;
  /// On the device: how many rows there are, the first of `rows`; the others stay as they are.
  /// Null: all.
  const std::int64_t* real_rows = nullptr;
};

/// Enqueues the copies, of which there are kMostRowCopies at most: on a GPU one launch for all.
/// There addresses, strides and lengths are multiples of 4 bytes.
using CopyRows = void (*)(std::span<const RowCopy> copies, Stream& stream);
inline constexpr std::size_t kMostRowCopies = 2;
void copy_rows_on_cpu(std::span<const RowCopy> copies, Stream& stream);
void copy_rows_on_gpu(std::span<const RowCopy> copies, Stream& stream);

}  // namespace attnbench
