// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/timestamp.h"

#include <charconv>
#include <chrono>

#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

/// `digits` digits from `text`, which loses them and the mark behind them.
std::optional<int> take_digits(std::string_view& text, std::size_t digits, std::string_view marks) {
  int value = 0;
  const char* const end = text.data() + std::min(digits, text.size());
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.size() < digits || error != std::errc() || stop != end || value < 0) return {};
  text.remove_prefix(digits);
  if (marks.empty()) return value;
  if (text.empty() || marks.find(text.front()) == std::string_view::npos) return {};
  text.remove_prefix(1);
  return value;
}

/// Seconds that a time is ahead of UTC.
std::optional<int> take_offset(std::string_view& text) {
  const std::size_t sign = text.find_first_of("+-Z");
  if (sign == std::string_view::npos) return 0;
  std::string_view zone = text.substr(sign);
  text = text.substr(0, sign);
  if (zone == "Z") return 0;
  const int direction = zone.front() == '-' ? -1 : 1;
  zone.remove_prefix(1);
  const auto hours = take_digits(zone, 2, ":"), minutes = take_digits(zone, 2, "");
  if (!hours || !minutes || !zone.empty()) return {};
  return direction * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<double> timestamp_s(std::string_view text) {
  const auto year = take_digits(text, 4, "-"), month = take_digits(text, 2, "-"),
             day = take_digits(text, 2, " T"), hour = take_digits(text, 2, ":"),
             minute = take_digits(text, 2, ":");
  const auto offset = take_offset(text);
  // A sign, or a number such as 1e1, is no second of a clock.
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return {};
  const auto second = parse_number(text);
  if (!year || !month || !day || !hour || !minute || !offset || !second) return {};
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return {};  // 60: a leap second
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(days.count()) * 86400 + *hour * 3600 + *minute * 60 - *offset +
         *second;
}

}  // namespace attnbench
