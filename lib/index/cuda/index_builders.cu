// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/cuda/index_builders.cuh"

#include <cub/block/block_scan.cuh>

#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kSumThreads = 1024;
constexpr int kThreads = 256;
/// Blocks that share a request: enough for one long request to fill a GPU.
constexpr int kBlocksPerRequest = 32;

using PageSums = cub::BlockScan<std::int32_t, kSumThreads, cub::BLOCK_SCAN_WARP_SCANS>;

/// kv_indptr and kv_last_page_len from the lengths; one block, which walks the requests.
__global__ void __launch_bounds__(kSumThreads)
    sum_pages(const std::int32_t* lens, int batch_size, int page_size, CudaCsrIndices to) {
  __shared__ PageSums::TempStorage storage;
  std::int32_t before = 0;  // pages of the requests of earlier steps
  if (threadIdx.x == 0) to.kv_indptr[0] = 0;
  for (int begin = 0; begin < batch_size; begin += kSumThreads) {
    const int r = begin + static_cast<int>(threadIdx.x);
    const std::int32_t len = r < batch_size ? lens[r] : 0;
    std::int32_t through = 0, all = 0;
    PageSums(storage).InclusiveSum((len + page_size - 1) / page_size, through, all);
    if (r < batch_size) {
      to.kv_indptr[r + 1] = before + through;
      to.kv_last_page_len[r] = len == 0 ? 1 : (len - 1) % page_size + 1;
    }
    before += all;
    __syncthreads();  // before the storage is used anew
  }
}

__global__ void __launch_bounds__(kThreads)
    scatter_pages(DeviceBatch batch, int page_size, CudaCsrIndices to) {
  const int r = static_cast<int>(blockIdx.x);
  const std::int32_t* const row =
      batch.req_to_token + batch.req_pool_indices[r] * batch.req_to_token_stride;
  const std::int32_t first = to.kv_indptr[r];
  const std::int32_t pages = to.kv_indptr[r + 1] - first;
  for (int i = static_cast<int>(blockIdx.y * kThreads + threadIdx.x); i < pages;
       i += kBlocksPerRequest * kThreads) {
    to.kv_indices[first + i] = row[std::int64_t{i} * page_size] / page_size;
  }
}

__global__ void __launch_bounds__(kThreads)
    write_page_table(DeviceBatch batch, int page_size, int compress_ratio, std::int64_t width,
                     std::int32_t pad, std::int32_t* page_table) {
  const int r = static_cast<int>(blockIdx.x);
  const std::int32_t* const row =
      batch.req_to_token + batch.req_pool_indices[r] * batch.req_to_token_stride;
  const auto pages_of = [=](int keys) { return (keys + page_size - 1) / page_size; };
  const int tokens = batch.kv_lens[r], pages = pages_of(tokens);
  const int all = pages + (compress_ratio > 0 ? pages_of(tokens / compress_ratio) : 0);
  for (std::int64_t i = blockIdx.y * kThreads + threadIdx.x; i < width;
       i += kBlocksPerRequest * kThreads) {
    // Compressed rows begin a page, wherever the tokens before them end.
    const std::int64_t key = i < pages ? i * page_size : tokens + (i - pages) * page_size;
    page_table[r * width + i] = i < all ? row[key] / page_size : pad;
  }
}

dim3 grid_of(std::int64_t batch_size) {
  return {static_cast<unsigned>(batch_size), kBlocksPerRequest, 1};
}

}  // namespace

void enqueue_csr(const DeviceBatch& batch, std::int64_t batch_size, std::int64_t page_size,
                 const CudaCsrIndices& to, cudaStream_t stream) {
  const int page = static_cast<int>(page_size);
  sum_pages<<<1, kSumThreads, 0, stream>>>(batch.kv_lens, static_cast<int>(batch_size), page, to);
  check_launch("sum_pages");
  if (batch_size == 0) return;
  scatter_pages<<<grid_of(batch_size), kThreads, 0, stream>>>(batch, page, to);
  check_launch("scatter_pages");
}

void enqueue_page_table(const DeviceBatch& batch, std::int64_t batch_size, std::int64_t page_size,
                        std::int64_t width, std::int32_t pad, std::int32_t* page_table,
                        cudaStream_t stream, std::int64_t compress_ratio) {
  if (batch_size == 0 || width == 0) return;
  write_page_table<<<grid_of(batch_size), kThreads, 0, stream>>>(
      batch, static_cast<int>(page_size), static_cast<int>(compress_ratio), width, pad, page_table);
  check_launch("write_page_table");
}

}  // namespace attnbench
