// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Warpgroup matrix instructions of sm_90a (PTX ISA, "Asynchronous warpgroup level matrix
// instructions"): D[64, N] of a warpgroup, N / 2 floats d[N / 8][4] per thread. Thread t holds in
// d[n][2 r + j] row 16 (t / 32) + t % 32 / 4 + 8 r, column 8 n + 2 (t % 4) + j: a row of
// mma.m16n8k16's tiles.
namespace attnbench::cuda {

/// Bytes of a row of a tile in shared memory that is swizzled over 128 bytes: 64 16-bit elements.
/// Eight rows make an atom, whose 16-byte chunks c of row r lie at place c ^ r.
inline constexpr int kSwizzledRowBytes = 128;
inline constexpr int kSwizzledAtomBytes = 8 * kSwizzledRowBytes;

/// Describes a tile swizzled over 128 bytes that begins at a multiple of 1024 (plus 32 bytes per 16
/// elements where its rows run along the sum). `eight_rows` is the distance in bytes between atoms
/// down the rows, `columns` that between atoms of 64 columns, unused where rows run along the sum.
__device__ __forceinline__ std::uint64_t wgmma_descriptor(std::uint32_t shared, int eight_rows,
                                                          int columns) {
  constexpr std::uint64_t kSwizzle128 = 1ull << 62;
  return static_cast<std::uint64_t>((shared & 0x3ffffu) >> 4) |
         static_cast<std::uint64_t>(columns >> 4) << 16 |
         static_cast<std::uint64_t>(eight_rows >> 4) << 32 | kSwizzle128;
}

/// Orders this warpgroup's register accesses before its next matrix instructions.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
/// Waits until at most `pending` of the warpgroup's groups are unfinished.
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(pending) : "memory");
}
/// Keeps the compiler from moving accesses of accumulators across this point.
template <int kTiles>
__device__ __forceinline__ void pin_registers(float (&d)[kTiles][4]) {
#pragma unroll
  for (auto& tile : d) {
#pragma unroll
    for (float& x : tile) asm volatile("" : "+f"(x)::"memory");
  }
}

// d = a b, or d += a b. a [64, 16] lies in shared memory, its rows along the sum, or in registers
// as mma.m16n8k16 holds it (which always adds). b [16, N] lies in shared memory, its rows along the
// sum, as keys do for logits, or across, as values do for outputs.
//
// a in        N =  64     128     256
// shared    rows  along   along   across
// registers rows  either  across  across

template <class T>
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[8][4], std::uint64_t a, std::uint64_t b,
                                                bool add);
template <class T>
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[8][4], const std::uint32_t (&a)[4],
                                                std::uint64_t b);
template <class T>
__device__ __forceinline__ void wgmma_m64n64k16_across(float (&d)[8][4],
                                                       const std::uint32_t (&a)[4],
                                                       std::uint64_t b);
template <class T>
__device__ __forceinline__ void wgmma_m64n128k16(float (&d)[16][4], std::uint64_t a,
                                                 std::uint64_t b, bool add);
template <class T>
__device__ __forceinline__ void wgmma_m64n128k16(float (&d)[16][4], const std::uint32_t (&a)[4],
                                                 std::uint64_t b);
template <class T>
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[32][4], std::uint64_t a,
                                                 std::uint64_t b, bool add);
template <class T>
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[32][4], const std::uint32_t (&a)[4],
                                                 std::uint64_t b);

// Places of d among the operands, and d.
#define ATTNBENCH_D_64                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ATTNBENCH_D_128                                                                \
  ATTNBENCH_D_64                                                                       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ATTNBENCH_D_256                                                                          \
  ATTNBENCH_D_128                                                                                \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define ATTNBENCH_FLOATS(d, n) "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
#define ATTNBENCH_FLOATS_32(d, n)                                                         \
  ATTNBENCH_FLOATS(d, n), ATTNBENCH_FLOATS(d, n + 1), ATTNBENCH_FLOATS(d, n + 2),         \
      ATTNBENCH_FLOATS(d, n + 3), ATTNBENCH_FLOATS(d, n + 4), ATTNBENCH_FLOATS(d, n + 5), \
      ATTNBENCH_FLOATS(d, n + 6), ATTNBENCH_FLOATS(d, n + 7)
#define ATTNBENCH_FLOATS_64(d) ATTNBENCH_FLOATS_32(d, 0)
#define ATTNBENCH_FLOATS_128(d) ATTNBENCH_FLOATS_32(d, 0), ATTNBENCH_FLOATS_32(d, 8)
#define ATTNBENCH_FLOATS_256(d) \
  ATTNBENCH_FLOATS_128(d), ATTNBENCH_FLOATS_32(d, 16), ATTNBENCH_FLOATS_32(d, 24)

// `across` is "1" where b's rows lie across the sum.
#define ATTNBENCH_WGMMA_SHARED(T, type, n, a_and_b, added, across)                            \
  template <>                                                                                 \
  __device__ __forceinline__ void wgmma_m64n##n##k16<T>(float(&d)[n / 8][4], std::uint64_t a, \
                                                        std::uint64_t b, bool add) {          \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " added                                \
                 ", 0;\n"                                                                     \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type              \
                 " {" ATTNBENCH_D_##n "}, " a_and_b ", add, 1, 1, 0, " across ";\n}\n"        \
                 : ATTNBENCH_FLOATS_##n(d)                                                    \
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)));                               \
  }
#define ATTNBENCH_WGMMA_REGISTERS(T, type, n, a_and_b, across, name)                       \
  template <>                                                                              \
  __device__ __forceinline__ void name<T>(float(&d)[n / 8][4], const std::uint32_t(&a)[4], \
                                          std::uint64_t b) {                               \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type           \
                 " {" ATTNBENCH_D_##n "}, " a_and_b ", 1, 1, 1, " across ";\n"             \
                 : ATTNBENCH_FLOATS_##n(d)                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                    \
  }
#define ATTNBENCH_WGMMA(T, type)                                                                   \
  ATTNBENCH_WGMMA_SHARED(T, type, 64, "%32, %33", "%34", "0")                                      \
  ATTNBENCH_WGMMA_REGISTERS(T, type, 64, "{%32, %33, %34, %35}, %36", "0", wgmma_m64n64k16)        \
  ATTNBENCH_WGMMA_REGISTERS(T, type, 64, "{%32, %33, %34, %35}, %36", "1", wgmma_m64n64k16_across) \
  ATTNBENCH_WGMMA_SHARED(T, type, 128, "%64, %65", "%66", "0")                                     \
  ATTNBENCH_WGMMA_REGISTERS(T, type, 128, "{%64, %65, %66, %67}, %68", "1", wgmma_m64n128k16)      \
  ATTNBENCH_WGMMA_SHARED(T, type, 256, "%128, %129", "%130", "1")                                  \
  ATTNBENCH_WGMMA_REGISTERS(T, type, 256, "{%128, %129, %130, %131}, %132", "1", wgmma_m64n256k16)

ATTNBENCH_WGMMA(__nv_bfloat16, "bf16")
ATTNBENCH_WGMMA(__half, "f16")

#undef ATTNBENCH_WGMMA
#undef ATTNBENCH_WGMMA_REGISTERS
#undef ATTNBENCH_WGMMA_SHARED
#undef ATTNBENCH_FLOATS_256
#undef ATTNBENCH_FLOATS_128
#undef ATTNBENCH_FLOATS_64
#undef ATTNBENCH_FLOATS_32
#undef ATTNBENCH_FLOATS
#undef ATTNBENCH_D_256
#undef ATTNBENCH_D_128
#undef ATTNBENCH_D_64

}  // namespace attnbench::cuda
