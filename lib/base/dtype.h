// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace attnbench {

/// Element types of tensors. e4m3 is the "fn" variant (no infinities, max 448); e5m2 has max 57344.
enum class DType : std::uint8_t { kF32, kF16, kBF16, kE4M3, kE5M2 };

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

/// Largest relative error of rounding to nearest, 2^-p with p significant bits (measuring.md C.4).
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

// Storage bits of one element, rounded to nearest even. Overflow: f16 and bf16 go to infinity as
// IEEE says; fp8 saturates to the largest finite value, as CUDA's SATFINITE conversions do
// (semantics.md 2.5).
[[nodiscard]] std::uint16_t f16_bits(float value);
[[nodiscard]] std::uint8_t e4m3_bits(float value);
[[nodiscard]] std::uint8_t e5m2_bits(float value);

[[nodiscard]] inline std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

[[nodiscard]] inline float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
[[nodiscard]] float f16_value(std::uint16_t bits);
[[nodiscard]] float e4m3_value(std::uint8_t bits);
[[nodiscard]] float e5m2_value(std::uint8_t bits);

/// The element at `address` (any alignment), widened exactly.
[[nodiscard]] inline float load(DType dtype, const void* address) {
  switch (dtype) {
    case DType::kF32: {
      float value = 0;
      std::memcpy(&value, address, sizeof value);
      return value;
    }
    case DType::kF16:
    case DType::kBF16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, address, sizeof bits);
      return dtype == DType::kF16 ? f16_value(bits) : bf16_value(bits);
    }
    case DType::kE4M3:
      return e4m3_value(*static_cast<const std::uint8_t*>(address));
    case DType::kE5M2:
      return e5m2_value(*static_cast<const std::uint8_t*>(address));
  }
  return 0;
}

/// Rounds `value` to `dtype` and stores it at `address` (any alignment).
inline void store(DType dtype, void* address, float value) {
  switch (dtype) {
    case DType::kF32:
      std::memcpy(address, &value, sizeof value);
      return;
    case DType::kF16:
    case DType::kBF16: {
      const std::uint16_t bits = dtype == DType::kF16 ? f16_bits(value) : bf16_bits(value);
      std::memcpy(address, &bits, sizeof bits);
      return;
    }
    case DType::kE4M3:
      *static_cast<std::uint8_t*>(address) = e4m3_bits(value);
      return;
    case DType::kE5M2:
      *static_cast<std::uint8_t*>(address) = e5m2_bits(value);
      return;
  }
}

/// `value` after a round trip through `dtype`.
[[nodiscard]] inline float rounded(DType dtype, float value) {
  std::byte element[4];
  store(dtype, element, value);
  return load(dtype, element);
}

}  // namespace attnbench
