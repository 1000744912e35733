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
#include "lib/base/narrow.h"
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

/// A vector of bytes in the lower halves of 16-bit lanes.
[[nodiscard]] HWY_INLINE auto load_bytes(const std::byte* p) {
  const hn::Rebind<std::uint8_t, F32> u8;
  const hn::Rebind<std::uint16_t, F32> u16;
  return hn::PromoteTo(u16, hn::LoadU(u8, reinterpret_cast<const std::uint8_t*>(p)));
}

/// e5m2 is the upper byte of an f16.
template <>
struct Widen<DType::kE5M2> {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    return widen_f16(hn::ShiftLeft<8>(load_bytes(p)));
  }
};

/// e4m3's exponent and mantissa, moved to the place where f16 keeps them, mean 2^-8 of their value
/// (biases 7 and 15): f16 represents all of them, subnormals included. S.1111.111 is NaN.
template <>
struct Widen<DType::kE4M3> {
  [[nodiscard]] static HWY_INLINE Floats load(const std::byte* p) {
    const hn::Rebind<std::uint16_t, F32> u16;
    const auto bits = load_bytes(p);
    const auto sign = hn::ShiftLeft<8>(hn::And(bits, hn::Set(u16, 0x80)));
    const auto magnitude = hn::And(bits, hn::Set(u16, 0x7f));
    const auto nan = hn::VecFromMask(u16, hn::Eq(magnitude, hn::Set(u16, 0x7f)));
    const auto half =
        hn::Or(hn::Or(sign, hn::ShiftLeft<7>(magnitude)), hn::And(nan, hn::Set(u16, 0x7c00)));
    return widen_f16(half) * splat(256.0f);
  }
};

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

/// A latent row of KvScales::kBlock as the floats that it stands for: `rank` latent values, each
/// block times its scale, then the rope part, `dim` in all.
inline void widen_block_row(const std::byte* from, float* to, std::int64_t rank, std::int64_t dim) {
  static_assert(kScaleBlock % kLanes == 0);
  const std::byte* const scales = from + rank;
  for (std::int64_t d = 0; d < rank; d += kScaleBlock) {
    float scale;
    std::memcpy(&scale, scales + d / kScaleBlock * std::int64_t{sizeof scale}, sizeof scale);
    for (std::int64_t i = d; i < d + kScaleBlock; i += kLanes) {
      store_floats(to + i, Widen<DType::kE4M3>::load(from + i) * splat(scale));
    }
  }
  const std::int64_t latent_bytes = block_row_bytes(narrow_i32(rank), narrow_i32(rank));
  widen_row<DType::kBF16>(from + latent_bytes, to + rank, dim - rank);
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
