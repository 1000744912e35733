// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/field_access.h"

#include <charconv>
#include <system_error>

namespace attnbench {
namespace {

template <class Number>
void number_from(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) {
    throw ConfigError(fmt::format("'{}' is not a number", text));
  }
}

}  // namespace

void from_text(const std::string& text, std::string& value) { value = text; }
void from_text(const std::string& text, int& value) { number_from(text, value); }
void from_text(const std::string& text, std::int64_t& value) { number_from(text, value); }
void from_text(const std::string& text, double& value) { number_from(text, value); }
void from_text(const std::string& text, bool& value) {
  if (text != "0" && text != "1") throw ConfigError(fmt::format("'{}' is neither 0 nor 1", text));
  value = text == "1";
}

FieldAccess computed(Json (*value)(const Record&)) {
  return {value, [](Record&, const std::string&) {}, type_of<double>()};
}

FieldAccess of_words(FieldAccess access, std::vector<std::string> words) {
  access.type = {{"enum", std::move(words)}};
  return access;
}

FieldAccess at_least(int minimum, FieldAccess access) {
  access.type["minimum"] = minimum;
  return access;
}

}  // namespace attnbench
