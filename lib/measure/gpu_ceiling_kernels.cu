// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/gpu_ceiling_kernels.cuh"

#include <cuda_runtime.h>

#include "lib/device/cuda/check.cuh"

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

namespace {

/// A pair of bf16 in +-[1, 2) with random mantissas and signs, or of zeros when `mask` is 0.
__device__ std::uint32_t random_pair(std::uint32_t index, std::uint32_t mask) {
  const std::uint32_t h = (index + 1) * 0x9e3779b9u;
  return (((h ^ (h >> 15)) & 0x807f807fu) | 0x3f803f80u) & mask;
}

// ---- mma.sync: any GPU from sm_80

constexpr int kMmaThreads = 256;
constexpr int kMmaChains = 8;  ///< independent sums per warp, to cover the latency of each
constexpr int kMmaSteps = 2000;
constexpr double kMmaFlops = 2.0 * 16 * 8 * 16;

__global__ void __launch_bounds__(kMmaThreads)
    mma_chains(int steps, std::uint32_t mask, float* sink) {
  std::uint32_t a[4];
  std::uint32_t b[2];
  for (int i = 0; i < 4; ++i) a[i] = random_pair(threadIdx.x * 4 + i, mask);
  for (int i = 0; i < 2; ++i) b[i] = random_pair(threadIdx.x * 2 + i + 7777, mask);
  float c[kMmaChains][4] = {};
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int k = 0; k < kMmaChains; ++k) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float sum = 0;
  for (int k = 0; k < kMmaChains; ++k) sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
  if (sum == 0.12345f) *sink = sum;
}

// ---- wgmma: sm_90a

constexpr int kWgmmaThreads = 256;  ///< two warpgroups: one issues while the other waits
constexpr int kWgmmaSteps = 1200;
constexpr int kWgmmaPerStep = 8;
constexpr double kWgmmaFlops = 2.0 * 64 * 128 * 16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// c[64 x 128] += a[64 x 16] b[16 x 128]; a in registers, b in shared memory.
__device__ void wgmma_m64n128k16(float (&c)[64], const std::uint32_t (&a)[4], std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
        "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
        "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
        "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
        "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]),
        "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]),
        "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
        "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]),
        "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]),
        "+f"(c[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#endif

__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_chain(int steps, std::uint32_t mask, float* sink) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  // B without swizzle: 8 x 8 core matrices of 128 contiguous bytes, two along k, 16 along n.
  __shared__ alignas(128) std::uint32_t b[128 * 16 / 2];
  for (int i = threadIdx.x; i < 128 * 16 / 2; i += kWgmmaThreads) b[i] = random_pair(i, mask);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(b));
  const std::uint64_t descriptor = ((address & 0x3ffff) >> 4) | (std::uint64_t{128 >> 4} << 16) |
                                   (std::uint64_t{256 >> 4} << 32);
  std::uint32_t a[4];
  for (int i = 0; i < 4; ++i) a[i] = random_pair(threadIdx.x * 4 + i + 4242, mask);
  float c[64] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < kWgmmaPerStep; ++k) wgmma_m64n128k16(c, a, descriptor);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += c[i];
  if (sum == 0.12345f) *sink = sum;
#else
  __trap();  // compiled for sm_90 without the "a": better no rate than that of an empty kernel
#endif
}

}  // namespace

TensorWork tensor_work_of(const DeviceInfo& info, TensorData data) {
  const std::uint32_t mask = data == TensorData::kZeros ? 0 : ~0u;
  const auto sms = static_cast<unsigned>(info.units);
  if (info.arch == "sm_90") {
    return {kWgmmaFlops * kWgmmaPerStep * kWgmmaSteps * (kWgmmaThreads / 128) * sms,
            [sms, mask](Stream& stream, std::byte* sink) {
              wgmma_chain<<<sms, kWgmmaThreads, 0, native(stream)>>>(
                  kWgmmaSteps, mask, reinterpret_cast<float*>(sink));
              check_launch("wgmma_chain");
            }};
  }
  // Two blocks on each SM: 16 warps, 128 sums in flight.
  return {kMmaFlops * kMmaChains * kMmaSteps * (kMmaThreads / 32) * 2 * sms,
          [sms, mask](Stream& stream, std::byte* sink) {
            mma_chains<<<2 * sms, kMmaThreads, 0, native(stream)>>>(kMmaSteps, mask,
                                                                    reinterpret_cast<float*>(sink));
            check_launch("mma_chains");
          }};
}

}  // namespace attnbench
