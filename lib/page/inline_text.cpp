// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/inline_text.h"

#include <cstddef>
#include <cstdint>

#include "lib/base/sha256.h"

namespace attnbench {
namespace {

std::uint32_t digit(char hex) {
  return static_cast<std::uint32_t>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/// Base 64 of bytes that are given as hex digits (RFC 4648).
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char each : hex) {
    bits = bits << 4 | digit(each);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text += kDigits[bits >> count & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

std::string inline_json(const Json& json) {
  std::string text;
  for (const char each : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    switch (each) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += each;
    }
  }
  return text;
}

std::string policy_hash(std::string_view text) {
  return "'sha256-" + base64_of_hex(sha256_hex(text)) + "'";
}

}  // namespace attnbench
