// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace attnbench {

/// Element types of tensors. e4m3 is the "fn" variant (no infinities, max 448); e5m2 has max 57344.
enum class DType : std::uint8_t { kF32, kF16, kBF16, kE4M3, kE5M2 };
inline constexpr std::array kDTypes = {DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3,
                                       DType::kE5M2};

[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_string(std::string_view name);

[[nodiscard]] constexpr std::int64_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kE4M3:
    case DType::kE5M2:
      return 1;
  }
  return 0;
}

/// Largest relative error of rounding to nearest, 2^-p with p significant bits.
[[nodiscard]] constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1p-24;
    case DType::kF16:
      return 0x1p-11;
    case DType::kBF16:
      return 0x1p-8;
    case DType::kE4M3:
      return 0x1p-4;
    case DType::kE5M2:
      return 0x1p-3;
  }
  return 0;
}

/// Largest finite number.
[[nodiscard]] constexpr float largest_finite(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1.fffffep127f;
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127f;
    case DType::kE4M3:
      return 448;
    case DType::kE5M2:
      return 57344;
  }
  return 0;
}

// Conversions are constexpr functions of integers, so that a GPU runs the very same ones.

namespace dtype_detail {

/// Layout of a narrow float: sign, exponent with the given bias, mantissa.
struct Format {
  int mantissa_bits;
  int bias;
};
inline constexpr Format kF16{10, 15};
inline constexpr Format kE4M3{3, 7};
inline constexpr Format kE5M2{2, 15};

inline constexpr std::uint32_t kInfinity = 0x7f800000u;  ///< f32 patterns without sign
inline constexpr std::uint32_t kNan = 0x7fc00000u;

/// |value| rounded to nearest even on the format's grid, as exponent-and-mantissa bits without
/// sign. Not checked for overflow: a result above the largest finite pattern is the caller's to
/// map. Integer arithmetic on the f32 pattern, because fixtures convert hundreds of millions of
/// elements.
[[nodiscard]] constexpr std::uint32_t magnitude_bits(std::uint32_t bits, Format format) {
  const int exponent = static_cast<int>(bits >> 23) - 127;
  const int least = 1 - format.bias;  // exponent of the smallest normal number
  const int below = exponent < least ? least - exponent : 0;
  const int shift = 23 - format.mantissa_bits + below;
  if (shift > 24) return 0;  // less than half of the smallest number
  // A subnormal result has no hidden bit to drop; a normal one carries its exponent along. Adding
  // just under half, plus the last kept bit, rounds to even; a carry runs into the exponent, as it
  // should.
  const std::uint32_t field = below > 0 ? (bits & 0x7fffffu) | 0x800000u : bits;
  const std::uint32_t half = (1u << (shift - 1)) - 1u;
  const std::uint32_t grid = (field + half + ((field >> shift) & 1u)) >> shift;
  const auto rebias = static_cast<std::uint32_t>(127 - format.bias) << format.mantissa_bits;
  return below > 0 ? grid : grid - rebias;
}

/// The number that finite exponent-and-mantissa bits stand for, as an f32 pattern.
[[nodiscard]] constexpr std::uint32_t magnitude_value(std::uint32_t bits, Format format) {
  if (bits >> format.mantissa_bits != 0) {
    return (bits << (23 - format.mantissa_bits)) +
           (static_cast<std::uint32_t>(127 - format.bias) << 23);
  }
  // Subnormal: the mantissa counts steps of 2^(1 - bias - mantissa_bits).
  const auto step = static_cast<std::uint32_t>(128 - format.bias - format.mantissa_bits) << 23;
  return std::bit_cast<std::uint32_t>(static_cast<float>(bits) * std::bit_cast<float>(step));
}

/// Storage bits of `value` in a format of `width` bits: NaN is `nan`, what is beyond becomes
/// `largest`.
[[nodiscard]] constexpr std::uint32_t narrow_bits(float value, Format format, int width,
                                                  std::uint32_t nan, std::uint32_t largest) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 31) << (width - 1);
  const std::uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude >= kInfinity) return sign | (magnitude > kInfinity ? nan : largest);
  const std::uint32_t bits = magnitude_bits(magnitude, format);
  return sign | (bits < largest ? bits : largest);
}

/// The value of storage bits; magnitudes from `special` on are infinity (if `has_infinity`, and
/// exactly there) or NaN.
[[nodiscard]] constexpr float wide_value(std::uint32_t bits, Format format, int width,
                                         std::uint32_t special, bool has_infinity) {
  const std::uint32_t sign = (bits >> (width - 1)) << 31;
  const std::uint32_t magnitude = bits & ((1u << (width - 1)) - 1u);
  if (magnitude >= special) {
    return std::bit_cast<float>(sign | (has_infinity && magnitude == special ? kInfinity : kNan));
  }
  return std::bit_cast<float>(sign | magnitude_value(magnitude, format));
}

}  // namespace dtype_detail

/// The least power of two that is no less than `value`, a positive normal number.
[[nodiscard]] constexpr float rounded_up_to_power_of_two(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffffu) & 0xff800000u);
}

// Storage bits of one element, rounded to nearest even. Overflow: f16 and bf16 go to infinity as
// IEEE says; fp8 saturates to the largest finite value, as CUDA's SATFINITE conversions do.
[[nodiscard]] constexpr std::uint16_t f16_bits(float value) {
  using namespace dtype_detail;
  return static_cast<std::uint16_t>(narrow_bits(value, kF16, 16, 0x7e00u, 0x7c00u));
}
[[nodiscard]] constexpr std::uint8_t e4m3_bits(float value) {
  using namespace dtype_detail;
  return static_cast<std::uint8_t>(narrow_bits(value, kE4M3, 8, 0x7fu, 0x7eu));
}
[[nodiscard]] constexpr std::uint8_t e5m2_bits(float value) {
  using namespace dtype_detail;
  return static_cast<std::uint8_t>(narrow_bits(value, kE5M2, 8, 0x7eu, 0x7bu));
}
[[nodiscard]] constexpr std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

[[nodiscard]] constexpr float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
[[nodiscard]] constexpr float f16_value(std::uint16_t bits) {
  return dtype_detail::wide_value(bits, dtype_detail::kF16, 16, 0x7c00u, true);
}
[[nodiscard]] constexpr float e4m3_value(std::uint8_t bits) {
  return dtype_detail::wide_value(bits, dtype_detail::kE4M3, 8, 0x7fu, false);
}
[[nodiscard]] constexpr float e5m2_value(std::uint8_t bits) {
  return dtype_detail::wide_value(bits, dtype_detail::kE5M2, 8, 0x7cu, true);
}

/// Storage bits of `value` in `dtype`, in the low size_bytes(dtype) bytes.
[[nodiscard]] constexpr std::uint32_t storage_bits(DType dtype, float value) {
  switch (dtype) {
    case DType::kF32:
      return std::bit_cast<std::uint32_t>(value);
    case DType::kF16:
      return f16_bits(value);
    case DType::kBF16:
      return bf16_bits(value);
    case DType::kE4M3:
      return e4m3_bits(value);
    case DType::kE5M2:
      return e5m2_bits(value);
  }
  return 0;
}

/// The value of storage bits, exactly.
[[nodiscard]] constexpr float stored_value(DType dtype, std::uint32_t bits) {
  switch (dtype) {
    case DType::kF32:
      return std::bit_cast<float>(bits);
    case DType::kF16:
      return f16_value(static_cast<std::uint16_t>(bits));
    case DType::kBF16:
      return bf16_value(static_cast<std::uint16_t>(bits));
    case DType::kE4M3:
      return e4m3_value(static_cast<std::uint8_t>(bits));
    case DType::kE5M2:
      return e5m2_value(static_cast<std::uint8_t>(bits));
  }
  return 0;
}

/// `value` after a round trip through `dtype`.
[[nodiscard]] constexpr float rounded(DType dtype, float value) {
  return stored_value(dtype, storage_bits(dtype, value));
}

/// The element at `address` (any alignment), widened exactly.
[[nodiscard]] inline float load(DType dtype, const void* address) {
  switch (size_bytes(dtype)) {
    case 4: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, address, sizeof bits);
      return stored_value(dtype, bits);
    }
    case 2: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, address, sizeof bits);
      return stored_value(dtype, bits);
    }
    default:
      return stored_value(dtype, *static_cast<const std::uint8_t*>(address));
  }
}

/// Rounds `value` to `dtype` and stores it at `address` (any alignment).
inline void store(DType dtype, void* address, float value) {
  const std::uint32_t bits = storage_bits(dtype, value);
  switch (size_bytes(dtype)) {
    case 4:
      std::memcpy(address, &bits, sizeof bits);
      return;
    case 2: {
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(address, &half, sizeof half);
      return;
    }
    default:
      *static_cast<std::uint8_t*>(address) = static_cast<std::uint8_t>(bits);
  }
}

}  // namespace attnbench
