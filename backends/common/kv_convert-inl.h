// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says.
#if defined(ATTNBENCH_BACKENDS_COMMON_KV_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_COMMON_KV_CONVERT_INL_H_
#undef ATTNBENCH_BACKENDS_COMMON_KV_CONVERT_INL_H_
#else
#define ATTNBENCH_BACKENDS_COMMON_KV_CONVERT_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/common/vector-inl.h"
#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::HWY_NAMESPACE {

/// A vector of neighbouring stored elements, widened in registers. One per storage type, so that
/// kernels are compiled for each.
template <DType dtype>
struct Widen;

template <>
struct Widen<DType::kF32> {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    return load_floats(reinterpret_cast<const float*>(p));
  }
};

template <>
struct Widen<DType::kBF16> {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    const hn::Rebind<std::uint16_t, F32> u16;
    const auto bits = hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(p));
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), bits)));
  }
};

/// The bits of f16 numbers as floats.
template <class V>
[[nodiscard]] HWY_INLINE Floats widen_f16(V bits) {
  return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), bits));
}

template <>
struct Widen<DType::kF16> {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    const hn::Rebind<std::uint16_t, F32> u16;
    return widen_f16(hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(p)));
  }
};

/// Bytes in lanes of `d`, int16, their highest bit extended.
template <class D>
[[nodiscard]] HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* p) {
  const hn::Rebind<std::int8_t, D> i8;
  return hn::PromoteTo(d, hn::LoadU(i8, reinterpret_cast<const std::int8_t*>(p)));
}

/// fp8 numbers as f16 bits in lanes of `d`, int16: 1 / kFactor of their values.
template <DType dtype>
struct HalvesOf;

/// e5m2 is the upper byte of an f16.
template <>
struct HalvesOf<DType::kE5M2> {
  static constexpr float kFactor = 1;
  template <class D>
  [[nodiscard]] static HWY_INLINE hn::Vec<D> load(D d, const std::byte* p) {
    return hn::ShiftLeft<8>(load_bytes(d, p));
  }
};

/// e4m3's exponent and mantissa, moved to where f16 keeps them, mean 2^-8 of their value (biases 7
/// and 15): f16 represents all of them, subnormals included. S.1111.111 is NaN. f16's exponent has
/// one bit more, which the extended sign fills first.
template <>
struct HalvesOf<DType::kE4M3> {
  static constexpr float kFactor = 256;
  template <class D>
  [[nodiscard]] static HWY_INLINE hn::Vec<D> load(D d, const std::byte* p) {
    const auto all = hn::Set(d, 0x3f80);
    const auto half = hn::AndNot(hn::Set(d, 0x4000), hn::ShiftLeft<7>(load_bytes(d, p)));
    const auto nan = hn::Eq(hn::And(half, all), all);
    return hn::IfThenElse(nan, hn::Or(half, hn::Set(d, 0x7c00)), half);
  }
};

template <DType dtype>
struct WidenByte {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    const hn::Rebind<std::int16_t, F32> i16;
    const Floats floats = widen_f16(HalvesOf<dtype>::load(i16, p));
    return HalvesOf<dtype>::kFactor == 1 ? floats : floats * splat(HalvesOf<dtype>::kFactor);
  }
};

template <>
struct Widen<DType::kE5M2> : WidenByte<DType::kE5M2> {};
template <>
struct Widen<DType::kE4M3> : WidenByte<DType::kE4M3> {};

/// Two vectors of neighbouring elements, in the order that costs least to widen; load_pair and
/// store_pair put floats in the same order.
template <DType dtype>
struct WidenPair {
  static HWY_INLINE void load(const std::byte* p, Floats& a, Floats& b) {
    a = Widen<dtype>::load(p);
    b = Widen<dtype>::load(p + kLanes * size_bytes(dtype));
  }
  static HWY_INLINE void load_floats(const float* p, Floats& a, Floats& b) {
    a = hn::LoadU(F32(), p);
    b = hn::LoadU(F32(), p + kLanes);
  }
  static HWY_INLINE void store_floats(float* p, Floats a, Floats b) {
    hn::StoreU(a, F32(), p);
    hn::StoreU(b, F32(), p + kLanes);
  }
};

/// One vector of f16 bits for both.
template <DType dtype>
struct WidenPairOfBytes {
  static HWY_INLINE void load(const std::byte* p, Floats& a, Floats& b) {
    const hn::Repartition<std::int16_t, F32> i16;
    const hn::Half<decltype(i16)> half;
    const auto halves = HalvesOf<dtype>::load(i16, p);
    a = widen_f16(hn::LowerHalf(half, halves));
    b = widen_f16(hn::UpperHalf(half, halves));
    if constexpr (HalvesOf<dtype>::kFactor != 1) {
      a = a * splat(HalvesOf<dtype>::kFactor);
      b = b * splat(HalvesOf<dtype>::kFactor);
    }
  }
  static HWY_INLINE void load_floats(const float* p, Floats& a, Floats& b) {
    WidenPair<DType::kF32>::load_floats(p, a, b);
  }
  static HWY_INLINE void store_floats(float* p, Floats a, Floats b) {
    WidenPair<DType::kF32>::store_floats(p, a, b);
  }
};

template <>
struct WidenPair<DType::kE5M2> : WidenPairOfBytes<DType::kE5M2> {};
template <>
struct WidenPair<DType::kE4M3> : WidenPairOfBytes<DType::kE4M3> {};

/// Even elements, then odd ones: a bf16 is the upper half of a float, so that each is one
/// instruction away.
template <>
struct WidenPair<DType::kBF16> {
  static HWY_INLINE void load(const std::byte* p, Floats& even, Floats& odd) {
    const U32 u32;
    const auto bits = hn::LoadU(u32, reinterpret_cast<const std::uint32_t*>(p));
    even = hn::BitCast(F32(), hn::ShiftLeft<16>(bits));
    odd = hn::BitCast(F32(), hn::And(bits, hn::Set(u32, 0xffff0000u)));
  }
  static HWY_INLINE void load_floats(const float* p, Floats& even, Floats& odd) {
    hn::LoadInterleaved2(F32(), p, even, odd);
  }
  static HWY_INLINE void store_floats(float* p, Floats even, Floats odd) {
    hn::StoreInterleaved2(even, odd, F32(), p);
  }
};

/// n stored elements as floats.
template <DType dtype>
inline void widen_row(const std::byte* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (size_bytes(dtype) == 1) {
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      Floats a, b;
      WidenPair<dtype>::load(from + i, a, b);
      WidenPair<dtype>::store_floats(to + i, a, b);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    store_floats(to + i, Widen<dtype>::load(from + i * size_bytes(dtype)));
  }
  for (; i < n; ++i) to[i] = load(dtype, from + i * size_bytes(dtype));
}

inline void widen_row(DType dtype, const std::byte* from, float* to, std::int64_t n) {
  switch (dtype) {
    case DType::kF32:
      return widen_row<DType::kF32>(from, to, n);
    case DType::kF16:
      return widen_row<DType::kF16>(from, to, n);
    case DType::kBF16:
      return widen_row<DType::kBF16>(from, to, n);
    case DType::kE4M3:
      return widen_row<DType::kE4M3>(from, to, n);
    case DType::kE5M2:
      return widen_row<DType::kE5M2>(from, to, n);
  }
}

/// A latent row that brings scales of blocks along as the `dim` floats that it stands for: blocks
/// times their scales, which are at `scales`, then what has none.
inline void widen_block_row(const BlockRow& row, const std::byte* from, const std::byte* scales,
                            float* to, std::int64_t dim) {
  static_assert(64 % (2 * kLanes) == 0);
  for (std::int64_t d = 0; d < row.scaled; d += row.block) {
    const std::byte* const at = scales + d / row.block * row.scale_bytes();
    float scale;
    if (row.behind > 0) {
      scale = e8m0_value(std::to_integer<std::uint8_t>(*at));
    } else {
      std::memcpy(&scale, at, sizeof scale);
    }
    for (std::int64_t i = d; i < d + row.block; i += 2 * kLanes) {
      Floats a, b;
      WidenPair<DType::kE4M3>::load(from + i, a, b);
      store_floats(to + i, a * splat(scale));
      store_floats(to + i + kLanes, b * splat(scale));
    }
  }
  widen_row<DType::kBF16>(from + row.plain_at, to + row.scaled, dim - row.scaled);
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
