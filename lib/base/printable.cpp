// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/printable.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace attnbench {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: `text` does not begin with UTF-8
};

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// The first code point, by the definition of UTF-8 (RFC 3629): no longer than need be, no
/// surrogates, nothing above U+10FFFF.
CodePoint first_of(std::string_view text) {
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80u) return {lead, 1};
  const std::size_t bytes = lead < 0xc0u ? 0 : lead < 0xe0u ? 2 : lead < 0xf0u ? 3 : 4;
  if (bytes == 0 || lead > 0xf4u || text.size() < bytes) return {};
  char32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0u) != 0x80u) return {};
    value = value << 6u | (byte_at(text, i) & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[bytes] || surrogate || value > 0x10ffff) return {};
  return {value, bytes};
}

bool steers(char32_t value) {
  const bool control = value < 0x20 || (value >= 0x7f && value <= 0x9f);
  const bool separates = value == 0x2028 || value == 0x2029;
  const bool turns = value == 0x200e || value == 0x200f || value == 0x061c ||
                     (value >= 0x202a && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
  const bool no_character = (value & 0xfffe) == 0xfffe;  // XML takes none of them
  return (control && value != '\n' && value != '\t') || separates || turns || no_character;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes == 0 || (bytes == 1 && steers(point.value))) {
      out += fmt::format("\\x{:02x}", byte_at(text, 0));
    } else if (steers(point.value)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(point.value));
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace attnbench
