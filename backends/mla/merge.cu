// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/early_launch.cuh"
#include "backends/common/cuda/merge_pieces.cuh"
#include "backends/common/cuda/store_out.cuh"
#include "backends/mla/dispatch.cuh"
#include "backends/mla/params.h"
#include "backends/mla/rows.cuh"

namespace attnbench::mla {

/// A row's pieces are added to this many sums in turn, and then the sums to each other. The
/// additions and their order are therefore the same for any number of warps that share the work.
inline constexpr int kMergeSums = 8;

/// How many warps share 128 columns of a row, kGroups, decides how many of those a block has.
template <int kGroups>
struct MergeShape {
  static constexpr int kRowSlices = 4;  ///< 512 columns
  static constexpr int kSlices = kGroups < kRowSlices ? kRowSlices / kGroups : 1;
  static constexpr int kThreads = 32 * kSlices * kGroups;
  static constexpr int kBlocks = kRowSlices / kSlices;  ///< for a row
};

/// Merges the pieces of a row by their LSEs.
template <class T, int kGroups>
__device__ __forceinline__ void merge_row(const Params& p, const Item& item, int row) {
  using Shape = MergeShape<kGroups>;
  constexpr int kDv = 128 * Shape::kRowSlices;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x) / 32;
  const int group = warp / Shape::kSlices, slice = warp % Shape::kSlices;
  const int d = 128 * (static_cast<int>(blockIdx.z) * Shape::kSlices + slice) + 4 * lane;
  const std::int64_t first = static_cast<std::int64_t>(item.first_partial) * p.partial_rows + row;
  const auto lse_of = [&](int split) {
    return __ldg(p.partial_lse + first + split * p.partial_rows);
  };

  cuda::LseMerge merge;
  for (int split = lane; split < item.splits; split += 32) merge.add(lse_of(split));
#pragma unroll
  for (int other = 16; other > 0; other /= 2) {
    const float highest = __shfl_xor_sync(~0u, merge.highest, other);
    const float sum = __shfl_xor_sync(~0u, merge.sum, other);
    merge.add(highest, sum);
  }
  const cuda::LseMerge of_keys = merge;
  if (p.sinks != nullptr) merge.add(cuda::sink_of(p, place_of(p, item, row).head));

  constexpr int kOwnSums = kMergeSums / kGroups;
  float4 sums[kOwnSums] = {};
#pragma unroll kGroups
  for (int round = 0; round < item.splits; round += kMergeSums) {
#pragma unroll
    for (int i = 0; i < kOwnSums; ++i) {
      const int split = round + i * kGroups + group;
      if (split >= item.splits) continue;
      const float weight = merge.weight(lse_of(split));
      const float4 part = __ldg(reinterpret_cast<const float4*>(
          p.partial_out + (first + static_cast<std::int64_t>(split) * p.partial_rows) * kDv + d));
      sums[i].x += weight * part.x;
      sums[i].y += weight * part.y;
      sums[i].z += weight * part.z;
      sums[i].w += weight * part.w;
    }
  }
  float4 all{0, 0, 0, 0};
  const auto add = [&](const float4& sum) {
    all.x += sum.x;
    all.y += sum.y;
    all.z += sum.z;
    all.w += sum.w;
  };
  if constexpr (kGroups == 1) {
#pragma unroll
    for (const float4& sum : sums) add(sum);
  } else {
    __shared__ float4 shared[kMergeSums][Shape::kSlices][32];
#pragma unroll
    for (int i = 0; i < kOwnSums; ++i) shared[i * kGroups + group][slice][lane] = sums[i];
    __syncthreads();
    if (group > 0) return;
#pragma unroll
    for (int i = 0; i < kMergeSums; ++i) add(shared[i][slice][lane]);
  }

  const cuda::RowPlace place = place_of(p, item, row);
  const float factor = cuda::out_factor(p, item.request, item.kv_head);
  cuda::store_out<T>(p, place, d,
                     float4{all.x * factor, all.y * factor, all.z * factor, all.w * factor});
  if (d == 0) cuda::store_lse(p, place, p.sink_in_lse ? merge.lse() : of_keys.lse());
}

/// Merges row blockIdx.y of tile blockIdx.x of p.merges. Where warps share no columns, also every
/// gridDim.y-th row from there.
template <class T, int kGroups>
__global__ void __launch_bounds__(MergeShape<kGroups>::kThreads)
    merge_kernel(const __grid_constant__ Params p) {
  const Item item = p.merges[blockIdx.x];  // not written by the kernel before
  cuda::await_previous();
  int row = static_cast<int>(blockIdx.y);
  if constexpr (kGroups > 1) {
    if (row < item.rows) merge_row<T, kGroups>(p, item, row);
  } else {
#pragma unroll 1
    for (; row < item.rows; row += static_cast<int>(gridDim.y)) {
      merge_row<T, kGroups>(p, item, row);
    }
  }
}

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
