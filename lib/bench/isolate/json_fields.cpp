// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/json_fields.h"

#include <charconv>
#include <cstddef>

#include "lib/base/error.h"

namespace attnbench {

nlohmann::json to_json_fields(const std::vector<std::byte>& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) {
    const auto value = std::to_integer<unsigned>(each);
    text += kDigits[value / 16];
    text += kDigits[value % 16];
  }
  return text;
}

void from_json_fields(const nlohmann::json& json, std::vector<std::byte>& bytes) {
  const auto& text = json.get_ref<const std::string&>();
  expects(text.size() % 2 == 0, "the bytes of a worker are cut short");
  bytes.clear();
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto end = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    expects(end.ptr == text.data() + i + 2, "the bytes of a worker are no hexadecimal digits");
    bytes.push_back(static_cast<std::byte>(value));
  }
}

}  // namespace attnbench
