// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceilings.h"

#include <cstddef>

#include "backends/common/vector_targets.h"
#include "lib/base/error.h"

// This file is compiled once for each instruction set; the table at its end names them all.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/measure/multiply_add.cpp"
#include <hwy/foreach_target.h>
// After the instruction set is chosen.
#include <hwy/highway.h>
#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace attnbench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<float>;

/// Latency 4 times 2 units needs 8 chains in flight; 10 leave slack and fit 16 registers.
inline constexpr std::size_t kChains = 10;
inline constexpr std::int64_t kFlopPerStep = 2 * std::int64_t{kChains} * HWY_LANES(float);

/// Start values that are unknown at compile time: the compiler would drop a chain that starts at
/// its fixed point.
HWY_INLINE void start(hn::Vec<Lanes>* chains, std::int64_t steps) {
  const float first = static_cast<float>(steps % 8) + 2.0f;
  for (std::size_t c = 0; c < kChains; ++c) {
    chains[c] = hn::Set(Lanes(), first + static_cast<float>(c));
  }
}

HWY_INLINE float sum_of(const hn::Vec<Lanes>* chains) {
  hn::Vec<Lanes> sum = hn::Zero(Lanes());
  for (std::size_t c = 0; c < kChains; ++c) sum = hn::Add(sum, chains[c]);
  return hn::GetLane(hn::SumOfLanes(Lanes(), sum));
}

inline float multiply_add(std::int64_t steps) {
  hn::Vec<Lanes> chains[kChains];
  start(chains, steps);
  // x = x m + a has the fixed point a / (1 - m) = 1: no overflow, no slow denormals.
  const auto m = hn::Set(Lanes(), 0.999f), a = hn::Set(Lanes(), 0.001f);
  for (std::int64_t i = 0; i < steps; ++i) {
    for (std::size_t c = 0; c < kChains; ++c) chains[c] = hn::MulAdd(chains[c], m, a);
  }
  return sum_of(chains);
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_TARGET == HWY_AVX3
// No instruction set of Highway 1.0 contains vdpbf16ps; callers have checked that the processor has
// it.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attnbench::HWY_NAMESPACE {

inline float bf16_dots(std::int64_t steps) {
  hn::Vec<Lanes> chains[kChains];
  start(chains, steps);
  // 2^-20 times 2^-20, twice: sums that grow too slowly to overflow.
  const __m512i tiny = _mm512_set1_epi32(0x35803580);
  for (std::int64_t i = 0; i < steps; ++i) {
    for (std::size_t c = 0; c < kChains; ++c) {
      chains[c].raw = _mm512_dpbf16_ps(chains[c].raw, reinterpret_cast<__m512bh>(tiny),
                                       reinterpret_cast<__m512bh>(tiny));
    }
  }
  return sum_of(chains);
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace attnbench {

std::vector<MultiplyAdd> multiply_adds(CpuTarget target) {
  switch (target) {
#if HWY_TARGETS & HWY_AVX2
    case CpuTarget::kAvx2:
      return {{N_AVX2::multiply_add, N_AVX2::kFlopPerStep}};
#endif
#if HWY_TARGETS & HWY_AVX3
    case CpuTarget::kAvx512:
      return {{N_AVX3::multiply_add, N_AVX3::kFlopPerStep}};
    case CpuTarget::kAvx512Bf16:
      return {{N_AVX3::multiply_add, N_AVX3::kFlopPerStep},
              {N_AVX3::bf16_dots, 2 * N_AVX3::kFlopPerStep}};
#endif
#if HWY_TARGETS & HWY_NEON
    case CpuTarget::kNeon:
      return {{N_NEON::multiply_add, N_NEON::kFlopPerStep}};
#endif
    default:
      throw InternalError("no multiply-adds of another architecture");
  }
}

}  // namespace attnbench
#endif
