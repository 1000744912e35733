// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set (Highway's foreach_target.h), so the include guard is
// toggled each time.
#if defined(ATTNBENCH_BACKENDS_COMMON_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_COMMON_VECTOR_INL_H_
#undef ATTNBENCH_BACKENDS_COMMON_VECTOR_INL_H_
#else
#define ATTNBENCH_BACKENDS_COMMON_VECTOR_INL_H_
#endif

#include <cstdint>

#include "backends/common/vector_targets.h"
// After the choice of targets.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnbench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
/// One register of floats.
using Floats = hn::Vec<F32>;

inline constexpr std::int64_t kLanes = HWY_LANES(float);
/// Vector registers of the instruction set.
inline constexpr int kRegisters = HWY_MAX_BYTES == 32 ? 16 : 32;

[[nodiscard]] HWY_INLINE Floats splat(float x) { return hn::Set(F32(), x); }
[[nodiscard]] HWY_INLINE Floats load_floats(const float* p) { return hn::LoadU(F32(), p); }
HWY_INLINE void store_floats(float* p, Floats v) { hn::StoreU(v, F32(), p); }

/// In every block of four lanes, that block's sum of a, of b, of c and of d.
[[nodiscard]] HWY_INLINE Floats block_sums(Floats a, Floats b, Floats c, Floats d) {
  const F32 f32;
  const hn::RepartitionToWide<U32> pairs;
  const Floats ab = hn::InterleaveLower(f32, a, b) + hn::InterleaveUpper(f32, a, b);
  const Floats cd = hn::InterleaveLower(f32, c, d) + hn::InterleaveUpper(f32, c, d);
  const auto ab2 = hn::BitCast(pairs, ab), cd2 = hn::BitCast(pairs, cd);
  return hn::BitCast(f32, hn::InterleaveLower(pairs, ab2, cd2)) +
         hn::BitCast(f32, hn::InterleaveUpper(pairs, ab2, cd2));
}

/// Writes the sum over the blocks of four lanes.
template <class D>
HWY_INLINE void store_sum_of_blocks(D d, hn::Vec<D> v, float* to) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    store_sum_of_blocks(half, hn::LowerHalf(half, v) + hn::UpperHalf(half, v), to);
  }
}

/// Writes the four sums over the lanes of a, b, c and d.
HWY_INLINE void store_lane_sums(Floats a, Floats b, Floats c, Floats d, float* to) {
  store_sum_of_blocks(F32(), block_sums(a, b, c, d), to);
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
