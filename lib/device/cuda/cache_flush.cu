// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/cache_flush.cuh"
#include "lib/device/cuda/whole_multiprocessor.cuh"

namespace attnbench {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocks = 1024;
constexpr int kFlushThreads = 1024;
constexpr int kInFlight = 4;  ///< independent 16-byte loads per thread

/// Bits without pattern, no zeros: memory of equal lines may be compressed or read faster.
__global__ void write_pattern(uint4* lines, std::size_t vectors) {
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < vectors;
       i += std::size_t{gridDim.x} * kThreads) {
    const std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull;  // golden ratio: Knuth, TAOCP 6.4
    const auto low = static_cast<std::uint32_t>(h);
    const auto high = static_cast<std::uint32_t>(h >> 32);
    lines[i] = make_uint4(low, high, low ^ high, ~low);
  }
}

/// Launched with all shared memory of a multiprocessor.
__global__ void __launch_bounds__(kFlushThreads)
    read_all(const uint4* lines, std::size_t vectors, std::uint32_t* sink) {
  const std::size_t step = std::size_t{gridDim.x} * kFlushThreads;
  std::uint32_t bits = 0;
#pragma unroll 1
  for (std::size_t i = blockIdx.x * std::size_t{kFlushThreads} + threadIdx.x; i < vectors;
       i += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      loaded[j] = i + j * step < vectors ? __ldcg(lines + i + j * step) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      bits ^= loaded[j].x ^ loaded[j].y ^ loaded[j].z ^ loaded[j].w;
    }
  }
  // Depends on every load and is practically never true, so flushing writes nothing.
  if (bits == 0x5eed5eed) *sink = bits;
}

struct Touched {
  static constexpr int kMost = 24;
  const std::uint32_t* words[kMost];
  std::size_t count[kMost];
};

/// One word of each 32 bytes, the sector that L2 is filled by, and the last word; a row of blocks
/// per part.
__global__ void read_sectors(const __grid_constant__ Touched parts, std::uint32_t* sink) {
  constexpr std::size_t kSector = 32 / sizeof(std::uint32_t);
  const std::uint32_t* const words = parts.words[blockIdx.y];
  const std::size_t count = parts.count[blockIdx.y];
  std::uint32_t bits = __ldcg(words + count - 1);
  for (std::size_t i = (blockIdx.x * std::size_t{kThreads} + threadIdx.x) * kSector; i < count;
       i += std::size_t{gridDim.x} * kThreads * kSector) {
    bits ^= __ldcg(words + i);
  }
  if (bits == 0x5eed5eed) *sink = bits;
}

}  // namespace

CacheFlush::CacheFlush(std::size_t cache_bytes, cudaStream_t stream)
    : blocks_(static_cast<unsigned>(multiprocessors())),
      vectors_(2 * cache_bytes / sizeof(uint4)),
      lines_(make_device_array<uint4>(vectors_)),
      sink_(make_device_array<std::uint32_t>(1)) {
  take_whole_multiprocessors(reinterpret_cast<const void*>(read_all));
  write_pattern<<<kBlocks, kThreads, 0, stream>>>(lines_.get(), vectors_);
  check_launch("write_pattern");
}

void CacheFlush::enqueue(cudaStream_t stream) const {
  read_all<<<blocks_, kFlushThreads, shared_bytes_of_multiprocessor(), stream>>>(
      lines_.get(), vectors_, sink_.get());
  check_launch("read_all");
}

void CacheFlush::enqueue_touch(std::span<const std::span<const std::byte>> parts,
                               cudaStream_t stream) const {
  Touched touched;
  unsigned rows = 0;
  const auto enqueue_rows = [&] {
    if (rows == 0) return;
    read_sectors<<<dim3(kBlocks / 8, rows), kThreads, 0, stream>>>(touched, sink_.get());
    check_launch("read_sectors");
    rows = 0;
  };
  for (const std::span<const std::byte> part : parts) {
    const std::size_t words = part.size() / sizeof(std::uint32_t);
    if (words == 0) continue;
    touched.words[rows] = reinterpret_cast<const std::uint32_t*>(part.data());
    touched.count[rows] = words;
    if (++rows == Touched::kMost) enqueue_rows();
  }
  enqueue_rows();
}

}  // namespace attnbench
