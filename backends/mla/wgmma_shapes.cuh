// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/wgmma.cuh"

// Two more shapes of the warpgroup matrix instructions; rows and columns of D as there.
namespace attnbench::mla {

/// Keeps the compiler from moving accesses of accumulators across this point.
template <int kTiles8>
__device__ __forceinline__ void pin_registers(float (&d)[kTiles8][4]) {
#pragma unroll
  for (auto& tile : d) {
#pragma unroll
    for (float& x : tile) asm volatile("" : "+f"(x)::"memory");
  }
}

/// Logits: d = a b, or d += a b, with b [16, 64] in shared memory, rows along the sum. a [64, 16]
/// in shared memory, rows along the sum, or in registers as mma.m16n8k16 holds it.
template <class T>
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[8][4], std::uint64_t a, std::uint64_t b,
                                                bool add);
template <class T>
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[8][4], const std::uint32_t (&a)[4],
                                                std::uint64_t b);
/// Outputs: d += a b with b [16, 256] in shared memory, rows across the sum.
template <class T>
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[32][4], const std::uint32_t (&a)[4],
                                                 std::uint64_t b);
template <class T>
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[32][4], std::uint64_t a,
                                                 std::uint64_t b);

#define ATTNBENCH_FOUR(x) "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
#define ATTNBENCH_WGMMA(T, type)                                                                  \
  template <>                                                                                     \
  __device__ __forceinline__ void wgmma_m64n64k16<T>(float(&d)[8][4], std::uint64_t a,            \
                                                     std::uint64_t b, bool add) {                 \
    asm volatile(                                                                                 \
        "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"                                          \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                               \
        " "                                                                                       \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"                  \
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "      \
        "%32, %33, add, 1, 1, 0, 0;\n}\n"                                                         \
        : ATTNBENCH_FOUR(d[0]), ATTNBENCH_FOUR(d[1]), ATTNBENCH_FOUR(d[2]), ATTNBENCH_FOUR(d[3]), \
          ATTNBENCH_FOUR(d[4]), ATTNBENCH_FOUR(d[5]), ATTNBENCH_FOUR(d[6]), ATTNBENCH_FOUR(d[7])  \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));                                            \
  }                                                                                               \
  template <>                                                                                     \
  __device__ __forceinline__ void wgmma_m64n64k16<T>(float(&d)[8][4], const std::uint32_t(&a)[4], \
                                                     std::uint64_t b) {                           \
    asm volatile(                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                               \
        " "                                                                                       \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"                  \
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "      \
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;\n"                                                \
        : ATTNBENCH_FOUR(d[0]), ATTNBENCH_FOUR(d[1]), ATTNBENCH_FOUR(d[2]), ATTNBENCH_FOUR(d[3]), \
          ATTNBENCH_FOUR(d[4]), ATTNBENCH_FOUR(d[5]), ATTNBENCH_FOUR(d[6]), ATTNBENCH_FOUR(d[7])  \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                    \
  }                                                                                               \
  template <>                                                                                     \
  __device__ __forceinline__ void wgmma_m64n256k16<T>(                                            \
      float(&d)[32][4], const std::uint32_t(&a)[4], std::uint64_t b) {                            \
    asm volatile(                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type                              \
        " "                                                                                       \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"                  \
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"        \
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"        \
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"        \
        " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"        \
        " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"        \
        " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
        "%111,"                                                                                   \
        " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "   \
        "%126, %127}, "                                                                           \
        "{%128, %129, %130, %131}, %132, 1, 1, 1, 1;\n"                                           \
        : ATTNBENCH_FOUR(d[0]), ATTNBENCH_FOUR(d[1]), ATTNBENCH_FOUR(d[2]), ATTNBENCH_FOUR(d[3]), \
          ATTNBENCH_FOUR(d[4]), ATTNBENCH_FOUR(d[5]), ATTNBENCH_FOUR(d[6]), ATTNBENCH_FOUR(d[7]), \
          ATTNBENCH_FOUR(d[8]), ATTNBENCH_FOUR(d[9]), ATTNBENCH_FOUR(d[10]),                      \
          ATTNBENCH_FOUR(d[11]), ATTNBENCH_FOUR(d[12]), ATTNBENCH_FOUR(d[13]),                    \
          ATTNBENCH_FOUR(d[14]), ATTNBENCH_FOUR(d[15]), ATTNBENCH_FOUR(d[16]),                    \
          ATTNBENCH_FOUR(d[17]), ATTNBENCH_FOUR(d[18]), ATTNBENCH_FOUR(d[19]),                    \
          ATTNBENCH_FOUR(d[20]), ATTNBENCH_FOUR(d[21]), ATTNBENCH_FOUR(d[22]),                    \
          ATTNBENCH_FOUR(d[23]), ATTNBENCH_FOUR(d[24]), ATTNBENCH_FOUR(d[25]),                    \
          ATTNBENCH_FOUR(d[26]), ATTNBENCH_FOUR(d[27]), ATTNBENCH_FOUR(d[28]),                    \
          ATTNBENCH_FOUR(d[29]), ATTNBENCH_FOUR(d[30]), ATTNBENCH_FOUR(d[31])                     \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                    \
  }                                                                                               \
  template <>                                                                                     \
  __device__ __forceinline__ void wgmma_m64n256k16<T>(float(&d)[32][4], std::uint64_t a,          \
                                                      std::uint64_t b) {                          \
    asm volatile(                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type                              \
        " "                                                                                       \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"                  \
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"        \
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"        \
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"        \
        " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"        \
        " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"        \
        " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
        "%111,"                                                                                   \
        " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "   \
        "%126, %127}, "                                                                           \
        "%128, %129, 1, 1, 1, 0, 1;\n"                                                            \
        : ATTNBENCH_FOUR(d[0]), ATTNBENCH_FOUR(d[1]), ATTNBENCH_FOUR(d[2]), ATTNBENCH_FOUR(d[3]), \
          ATTNBENCH_FOUR(d[4]), ATTNBENCH_FOUR(d[5]), ATTNBENCH_FOUR(d[6]), ATTNBENCH_FOUR(d[7]), \
          ATTNBENCH_FOUR(d[8]), ATTNBENCH_FOUR(d[9]), ATTNBENCH_FOUR(d[10]),                      \
          ATTNBENCH_FOUR(d[11]), ATTNBENCH_FOUR(d[12]), ATTNBENCH_FOUR(d[13]),                    \
          ATTNBENCH_FOUR(d[14]), ATTNBENCH_FOUR(d[15]), ATTNBENCH_FOUR(d[16]),                    \
          ATTNBENCH_FOUR(d[17]), ATTNBENCH_FOUR(d[18]), ATTNBENCH_FOUR(d[19]),                    \
          ATTNBENCH_FOUR(d[20]), ATTNBENCH_FOUR(d[21]), ATTNBENCH_FOUR(d[22]),                    \
          ATTNBENCH_FOUR(d[23]), ATTNBENCH_FOUR(d[24]), ATTNBENCH_FOUR(d[25]),                    \
          ATTNBENCH_FOUR(d[26]), ATTNBENCH_FOUR(d[27]), ATTNBENCH_FOUR(d[28]),                    \
          ATTNBENCH_FOUR(d[29]), ATTNBENCH_FOUR(d[30]), ATTNBENCH_FOUR(d[31])                     \
        : "l"(a), "l"(b));                                                                        \
  }

ATTNBENCH_WGMMA(__nv_bfloat16, "bf16")
ATTNBENCH_WGMMA(__half, "f16")
#undef ATTNBENCH_WGMMA
#undef ATTNBENCH_FOUR

}  // namespace attnbench::mla
