// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "backends/index_writer/write_keys.cuh"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::index_writer {
namespace {

constexpr int kWarp = 32;

/// Number `column` of a row in f32 or bf16.
__device__ __forceinline__ float load(DType dtype, const std::byte* row, std::int64_t column) {
  if (dtype == DType::kF32) return reinterpret_cast<const float*>(row)[column];
  return reinterpret_cast<const __nv_bfloat16*>(row)[column];
}
__device__ __forceinline__ void store(DType dtype, std::byte* row, std::int64_t column, float x) {
  if (dtype == DType::kF32) {
    reinterpret_cast<float*>(row)[column] = x;
  } else {
    reinterpret_cast<__nv_bfloat16*>(row)[column] = __float2bfloat16_rn(x);
  }
}

/// A token's key and gate go to the ring where they are to wait.
__device__ void wait(const IndexWrite& write, std::int64_t token) {
  const PoolShape& shape = write.shape;
  const PoolWrite& pools = write.pools;
  const std::int64_t row = pools.ring_rows[token], bytes = shape.key_bytes();
  if (row < 0) return;
  std::byte* const key = pools.ring + row * 2 * bytes;
  for (std::int64_t i = threadIdx.x; i < shape.columns(); i += blockDim.x) {
    store(shape.dtype, key, i, load(shape.dtype, write.k + token * bytes, i));
    const float gate = load(shape.dtype, pools.gates + token * bytes, i);
    const float more =
        shape.waits_with_ape ? pools.ape[row % shape.keys * shape.columns() + i] : 0.0f;
    store(shape.dtype, key + bytes, i, gate + more);
  }
}

/// One dim of the members of the row that a token completes.
class Members {
 public:
  __device__ __forceinline__ Members(const IndexWrite& write, std::int64_t token, int dim)
      : write_(write), waiting_(write.pools.waiting[token]), token_(token), dim_(dim) {}

  [[nodiscard]] __device__ __forceinline__ int first() const { return waiting_.absent; }
  [[nodiscard]] __device__ __forceinline__ float key(int i) const {
    const PoolShape& shape = write_.shape;
    return load(shape.dtype, in_ring(i) ? ring_row(i) : write_.k + token_of(i) * shape.key_bytes(),
                column(i));
  }
  [[nodiscard]] __device__ __forceinline__ float logit(int i) const {
    const PoolShape& shape = write_.shape;
    const std::int64_t bytes = shape.key_bytes();
    const float gate = load(
        shape.dtype, in_ring(i) ? ring_row(i) + bytes : write_.pools.gates + token_of(i) * bytes,
        column(i));
    if (in_ring(i) && shape.waits_with_ape) return gate;
    return gate + write_.pools.ape[i % shape.keys * shape.columns() + column(i)];
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int64_t column(int i) const {
    return i / write_.shape.keys * write_.shape.dims + dim_;
  }
  [[nodiscard]] __device__ __forceinline__ bool in_ring(int i) const {
    return i - waiting_.absent < waiting_.count;
  }
  [[nodiscard]] __device__ __forceinline__ const std::byte* ring_row(int i) const {
    return write_.pools.ring +
           (waiting_.first_row + i - waiting_.absent) * write_.shape.ring_row_bytes();
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t token_of(int i) const {
    return token_ - (write_.shape.members() - 1) + i;
  }

  const IndexWrite& write_;
  WaitingKeys waiting_;
  std::int64_t token_;
  int dim_;
};

/// The softmax of the members' gates over their keys.
__device__ float pooled(const Members& members, int count) {
  float highest = -INFINITY;
  for (int i = members.first(); i < count; ++i) highest = fmaxf(highest, members.logit(i));
  float weights = 0, sum = 0;
  for (int i = members.first(); i < count; ++i) {
    const float weight = expf(members.logit(i) - highest);
    weights += weight;
    sum += weight * members.key(i);
  }
  return sum / weights;
}

/// The scale of the block's numbers, one of each thread.
__device__ float scale_of(float x) {
  __shared__ float of_warps[kWarp];
  // Numbers that are not negative are ordered as their bits.
  const unsigned of_warp = __reduce_max_sync(~0u, __float_as_uint(fabsf(x)));
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = __uint_as_float(of_warp);
  __syncthreads();
  float amax = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) amax = fmaxf(amax, of_warps[warp]);
  return index_key_scale(amax);
}

/// A block for each token, a thread for each dim.
__global__ void write_keys(const __grid_constant__ IndexWrite write) {
  const PoolShape& shape = write.shape;
  const std::int64_t token = blockIdx.x;
  const int dim = static_cast<int>(threadIdx.x);
  if (shape.waits()) wait(write, token);
  const std::int64_t slot = write.slots[token];
  if (slot < 0) return;
  float x = 0;
  if (dim < shape.dims) {
    x = shape.waits() ? pooled(Members(write, token, dim), static_cast<int>(shape.members()))
                      : load(shape.dtype, write.k + token * shape.key_bytes(), dim);
  }
  const std::int64_t rows = write.page_size, row = slot % rows, bytes = shape.row_bytes();
  std::byte* const page = write.cache + slot / rows * rows * (bytes + shape.scale_bytes());
  if (shape.row != DType::kE4M3) {
    if (dim < shape.dims) store(DType::kBF16, page + row * bytes, dim, x);
    return;
  }
  const float scale = scale_of(x);
  if (dim < shape.dims) {
    page[row * bytes + dim] =
        std::byte{__nv_cvt_float_to_fp8(x / scale, __NV_SATFINITE, __NV_E4M3)};
  }
  if (dim == 0) reinterpret_cast<float*>(page + rows * bytes)[row] = scale;
}

}  // namespace

void enqueue_write(const IndexWrite& write, cudaStream_t stream) {
  if (write.tokens == 0) return;
  const auto threads = static_cast<unsigned>(round_up(write.shape.dims, kWarp));
  write_keys<<<static_cast<unsigned>(narrow_i32(write.tokens)), threads, 0, stream>>>(write);
  check_launch("write_keys");
}

}  // namespace attnbench::index_writer
