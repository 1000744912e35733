// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "backends/wrappers/row_copies.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kCopyThreads = 256;

struct RowCopies {
  RowCopy copy[kMostRowCopies];
  bool by_16_bytes[kMostRowCopies];
};

template <class Unit>
__device__ void copy_unit(const RowCopy& copy, std::int64_t index) {
  const std::int64_t units = copy.row_bytes / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t row = index / units, unit = index % units;
  if (row >= (copy.real_rows == nullptr ? copy.rows : __ldg(copy.real_rows))) return;
  reinterpret_cast<Unit*>(copy.to + row * copy.to_stride)[unit] =
      reinterpret_cast<const Unit*>(copy.from + row * copy.from_stride)[unit];
}

/// A thread copies one unit of the copy that its block's y says.
__global__ void __launch_bounds__(kCopyThreads)
    copy_rows_kernel(const __grid_constant__ RowCopies p) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kCopyThreads + threadIdx.x;
  const RowCopy& copy = p.copy[blockIdx.y];
  if (p.by_16_bytes[blockIdx.y]) {
    copy_unit<uint4>(copy, index);
  } else {
    copy_unit<std::uint32_t>(copy, index);
  }
}

bool is_multiple(const RowCopy& copy, std::int64_t bytes) {
  const auto number = [](const std::byte* address) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
  };
  for (const std::int64_t each :
       {number(copy.from), number(copy.to), copy.from_stride, copy.to_stride, copy.row_bytes}) {
    if (each % bytes != 0) return false;
  }
  return true;
}

}  // namespace

void copy_rows_on_gpu(std::span<const RowCopy> copies, Stream& stream) {
  expects(copies.size() <= kMostRowCopies, "more copies than a launch takes");
  RowCopies p{};
  std::int64_t threads = 0;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const RowCopy& copy = copies[i];
    expects(is_multiple(copy, 4), "rows are copied by the word");
    p.copy[i] = copy;
    p.by_16_bytes[i] = is_multiple(copy, 16);
    threads = std::max(threads, copy.rows * copy.row_bytes / (p.by_16_bytes[i] ? 16 : 4));
  }
  if (threads == 0) return;
  const dim3 grid(static_cast<unsigned>(ceil_div(threads, kCopyThreads)),
                  static_cast<unsigned>(copies.size()));
  copy_rows_kernel<<<grid, kCopyThreads, 0, static_cast<cudaStream_t>(stream.native())>>>(p);
  check_launch("copy_rows");
}

}  // namespace attnbench
