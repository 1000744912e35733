// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/tensor_map.cuh"

#include <cuda_runtime_api.h>

#include <limits>

namespace attnbench::paged_fa {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

/// The driver's function, without linking the driver's library; null where there is none.
Encode find_encode() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                              12000, cudaEnableDefault, &result);
#else
  const cudaError_t status =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<Encode>(found);
}

bool map(Encode encode, CUtensorMap& to, const std::byte* from, int head_dim, std::uint32_t rows,
         const Params& p, std::int64_t token_stride, std::int64_t head_stride,
         std::int64_t page_stride) {
  const cuuint64_t sizes[] = {
      static_cast<cuuint64_t>(head_dim), static_cast<cuuint64_t>(p.page_size),
      static_cast<cuuint64_t>(p.heads_kv), std::numeric_limits<std::int32_t>::max()};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(token_stride),
                                static_cast<cuuint64_t>(head_stride),
                                static_cast<cuuint64_t>(page_stride)};
  const cuuint32_t box[] = {64, rows, 1, 1}, steps[] = {1, 1, 1, 1};
  return encode(&to, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, const_cast<std::byte*>(from), sizes,
                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

PageMaps map_pages(const Params& p, int head_dim_k, int head_dim_v, int most_rows) {
  PageMaps maps{};
  std::int32_t rows = most_rows;
  while (rows > 1 && p.page_size % rows != 0) rows /= 2;
  static const Encode encode = find_encode();
  if (rows < 8 ||  // an atom of the swizzle has 8
      encode == nullptr)
    return maps;
  const auto box = static_cast<std::uint32_t>(rows);
  if (map(encode, maps.k, p.k, head_dim_k, box, p, p.k_token_stride, p.k_head_stride,
          p.k_page_stride) &&
      map(encode, maps.v, p.v, head_dim_v, box, p, p.v_token_stride, p.v_head_stride,
          p.v_page_stride)) {
    maps.rows = rows;
  }
  return maps;
}

}  // namespace attnbench::paged_fa
