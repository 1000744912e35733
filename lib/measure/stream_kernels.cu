// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "lib/device/cuda/check.cuh"
#include "lib/measure/gpu_ceiling_kernels.cuh"

namespace attnbench {
namespace {

constexpr int kThreads = 512;
constexpr int kInFlight = 8;  ///< independent 16-byte accesses per thread

cudaStream_t native(Stream& stream) { return static_cast<cudaStream_t>(stream.native()); }

unsigned blocks_for(std::int64_t vectors) {
  return static_cast<unsigned>((vectors + kThreads * kInFlight - 1) / (kThreads * kInFlight));
}

__global__ void write_noise(uint4* to, std::int64_t vectors) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < vectors;
       i += std::int64_t{gridDim.x} * kThreads) {
    std::uint64_t h = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull + 1;
    h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9ull;  // the mixing of SplitMix64 (Steele et al. 2014)
    const auto low = static_cast<std::uint32_t>(h);
    const auto high = static_cast<std::uint32_t>(h >> 32);
    to[i] = make_uint4(low, high, low ^ (high << 7), ~low ^ (high >> 5));
  }
}

/// Each block reads one contiguous tile: neighbouring blocks then keep few DRAM pages open.
__global__ void __launch_bounds__(kThreads)
    read_tiles(const uint4* from, std::int64_t vectors, std::uint32_t* sink) {
  const std::int64_t first = blockIdx.x * std::int64_t{kThreads * kInFlight} + threadIdx.x;
  uint4 loaded[kInFlight];
#pragma unroll
  for (int j = 0; j < kInFlight; ++j) {
    const std::int64_t i = first + j * kThreads;
    loaded[j] = i < vectors ? __ldcg(from + i) : make_uint4(0, 0, 0, 0);
  }
  std::uint32_t bits = 0;
#pragma unroll
  for (int j = 0; j < kInFlight; ++j) {
    bits ^= loaded[j].x ^ loaded[j].y ^ loaded[j].z ^ loaded[j].w;
  }
  if (bits == 0x5eed5eed) *sink = bits;  // depends on every load
}

__global__ void __launch_bounds__(kThreads)
    copy_tiles(uint4* to, const uint4* from, std::int64_t vectors) {
  const std::int64_t first = blockIdx.x * std::int64_t{kThreads * kInFlight} + threadIdx.x;
  uint4 loaded[kInFlight];
#pragma unroll
  for (int j = 0; j < kInFlight; ++j) {
    const std::int64_t i = first + j * kThreads;
    if (i < vectors) loaded[j] = __ldcs(from + i);
  }
#pragma unroll
  for (int j = 0; j < kInFlight; ++j) {
    const std::int64_t i = first + j * kThreads;
    if (i < vectors) __stcs(to + i, loaded[j]);
  }
}

}  // namespace

void enqueue_noise(Stream& stream, std::byte* to, std::int64_t bytes) {
  const std::int64_t vectors = bytes / 16;
  write_noise<<<blocks_for(vectors), kThreads, 0, native(stream)>>>(reinterpret_cast<uint4*>(to),
                                                                    vectors);
  check_launch("write_noise");
}

void enqueue_read(Stream& stream, const std::byte* from, std::int64_t bytes, std::byte* sink) {
  const std::int64_t vectors = bytes / 16;
  read_tiles<<<blocks_for(vectors), kThreads, 0, native(stream)>>>(
      reinterpret_cast<const uint4*>(from), vectors, reinterpret_cast<std::uint32_t*>(sink));
  check_launch("read_tiles");
}

void enqueue_copy(Stream& stream, std::byte* to, const std::byte* from, std::int64_t bytes) {
  const std::int64_t vectors = bytes / 16;
  copy_tiles<<<blocks_for(vectors), kThreads, 0, native(stream)>>>(
      reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), vectors);
  check_launch("copy_tiles");
}

}  // namespace attnbench
