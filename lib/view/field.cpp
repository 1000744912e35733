// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/field.h"

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
void from_text(const std::string& text, float& value) { number_from(text, value); }
void from_text(const std::string& text, double& value) { number_from(text, value); }
void from_text(const std::string& text, bool& value) {
  if (text != "0" && text != "1") throw ConfigError(fmt::format("'{}' is neither 0 nor 1", text));
  value = text == "1";
}

double as_written(float value) { return std::stod(fmt::format("{}", value)); }

}  // namespace attnbench
