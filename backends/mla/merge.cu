// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/merge.cuh"

#include "backends/mla/dispatch.cuh"

namespace attnbench::mla {
namespace {

/// Rows' quarters that keep a GPU busy: more are not cut further.
constexpr std::int64_t kBusyRows = 2048;

template <class T, int kGroups>
MergeKernel of() {
  using Shape = MergeShape<kGroups>;
  return {{merge_kernel<T, kGroups>, Shape::kThreads, 0}, Shape::kBlocks, kGroups == 1};
}

template <class T>
MergeKernel for_rows(std::int64_t rows) {
  if (8 * rows <= kBusyRows) return of<T, 8>();
  if (4 * rows <= kBusyRows) return of<T, 4>();
  if (2 * rows <= kBusyRows) return of<T, 2>();
  return of<T, 1>();
}

}  // namespace

MergeKernel merge_kernel_for(DType dtype, std::int64_t rows) {
  return dtype == DType::kF16 ? for_rows<__half>(rows) : for_rows<__nv_bfloat16>(rows);
}

}  // namespace attnbench::mla
