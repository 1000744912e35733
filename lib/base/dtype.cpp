// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/dtype.h"

#include <algorithm>
#include <array>
#include <utility>

namespace attnbench {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 5> kNames{{{DType::kF32, "f32"},
                                                                    {DType::kF16, "f16"},
                                                                    {DType::kBF16, "bf16"},
                                                                    {DType::kE4M3, "e4m3"},
                                                                    {DType::kE5M2, "e5m2"}}};

/// Layout of a narrow float: sign, exponent with the given bias, mantissa.
struct Format {
  int mantissa_bits;
  int bias;
};
constexpr Format kF16Format{10, 15};
constexpr Format kE4M3Format{3, 7};
constexpr Format kE5M2Format{2, 15};

/// |value| rounded to nearest even on the format's grid, as exponent-and-mantissa bits without
/// sign. Not checked for overflow: a result above the largest finite pattern is the caller's to
/// map. Integer arithmetic on the f32 pattern, because fixtures convert hundreds of millions of
/// elements.
std::uint32_t magnitude_bits(float value, Format format) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
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

float magnitude_value(std::uint32_t bits, Format format) {
  const std::uint32_t field = bits >> format.mantissa_bits;
  const std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1u);
  const int exponent =
      static_cast<int>(field == 0 ? 1 : field) - format.bias - format.mantissa_bits;
  const std::uint32_t hidden = field == 0 ? 0u : 1u << format.mantissa_bits;
  return std::ldexp(static_cast<float>(mantissa | hidden), exponent);
}

/// Decoding by table: 256 entries answer faster than any arithmetic.
template <class Decode>
std::array<float, 256> decode_table(Decode decode) {
  std::array<float, 256> table{};
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    table[bits] = std::copysign(decode(bits & 0x7fu), (bits & 0x80u) != 0 ? -1.0f : 1.0f);
  }
  return table;
}

std::uint8_t fp8_bits(float value, Format format, std::uint32_t nan, std::uint32_t largest) {
  const std::uint32_t sign = std::signbit(value) ? 0x80u : 0u;
  if (std::isnan(value)) return static_cast<std::uint8_t>(sign | nan);
  if (std::isinf(value)) return static_cast<std::uint8_t>(sign | largest);
  return static_cast<std::uint8_t>(sign | std::min(magnitude_bits(value, format), largest));
}

}  // namespace

std::string_view to_string(DType dtype) {
  for (const auto& [key, name] : kNames) {
    if (key == dtype) return name;
  }
  return "?";
}

std::optional<DType> dtype_from_string(std::string_view name) {
  for (const auto& [key, known] : kNames) {
    if (known == name) return key;
  }
  return std::nullopt;
}

std::uint16_t f16_bits(float value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00u);
  return static_cast<std::uint16_t>(sign | std::min(magnitude_bits(value, kF16Format), 0x7c00u));
}

float f16_value(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  float value = 0;
  if (magnitude > 0x7c00u) {
    value = std::nanf("");
  } else if (magnitude == 0x7c00u) {
    value = INFINITY;
  } else {
    value = magnitude_value(magnitude, kF16Format);
  }
  return std::copysign(value, (bits & 0x8000u) != 0 ? -1.0f : 1.0f);
}

std::uint8_t e4m3_bits(float value) { return fp8_bits(value, kE4M3Format, 0x7fu, 0x7eu); }
std::uint8_t e5m2_bits(float value) { return fp8_bits(value, kE5M2Format, 0x7eu, 0x7bu); }

float e4m3_value(std::uint8_t bits) {
  static const auto table = decode_table([](std::uint32_t magnitude) {
    return magnitude == 0x7fu ? std::nanf("") : magnitude_value(magnitude, kE4M3Format);
  });
  return table[bits];
}

float e5m2_value(std::uint8_t bits) {
  static const auto table = decode_table([](std::uint32_t magnitude) {
    if (magnitude > 0x7cu) return std::nanf("");
    return magnitude == 0x7cu ? INFINITY : magnitude_value(magnitude, kE5M2Format);
  });
  return table[bits];
}

}  // namespace attnbench
