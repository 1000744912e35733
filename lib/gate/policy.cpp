// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/policy.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "lib/base/glob.h"
#include "lib/gate/speed.h"

namespace attnbench {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || glob_matches(pattern, text);
}

void override_limits(Limits& limits, const Limits& by) {
  if (by.latency) limits.latency = by.latency;
  if (by.latency_floor_us) limits.latency_floor_us = by.latency_floor_us;
  if (by.error) limits.error = by.error;
  if (by.roofline) limits.roofline = by.roofline;
  if (by.must_run) limits.must_run = by.must_run;
}

Limits default_limits() {
  const SpeedLimits speed;
  Limits limits;
  limits.latency = speed.effect;
  limits.latency_floor_us = speed.floor_us;
  return limits;
}

/// A YAML string in single quotes, where nothing but the quote itself is special.
std::string yaml_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + '\'';
}

void add(std::string& map, std::string_view key, const std::string& value) {
  map += fmt::format("{}{}: {}", map.empty() ? "" : ", ", key, value);
}

void add_limits(std::string& map, const Limits& limits) {
  if (limits.latency) add(map, "latency", fmt::format("{}", *limits.latency));
  if (limits.latency_floor_us) {
    add(map, "latency_floor", fmt::format("{:.6g}us", *limits.latency_floor_us));
  }
  if (limits.error) add(map, "error", fmt::format("{}", *limits.error));
  if (limits.roofline) add(map, "roofline", fmt::format("{}", *limits.roofline));
  if (limits.must_run) add(map, "support", *limits.must_run ? "required" : "optional");
}

void add_pattern(std::string& map, const CellPattern& cells) {
  if (!cells.case_id.empty()) add(map, "case", yaml_quoted(cells.case_id));
  if (!cells.backend.empty()) add(map, "backend", yaml_quoted(cells.backend));
  if (!cells.mix.empty()) add(map, "mix", yaml_quoted(cells.mix));
}

std::string allowance_text(const Allowance& allowance) {
  std::string verdicts, map;
  for (const GateVerdict verdict : allowance.verdicts) {
    verdicts += (verdicts.empty() ? "" : ", ") + std::string(to_string(verdict));
  }
  add_pattern(map, allowance.cells);
  add(map, "verdict", '[' + verdicts + ']');
  if (allowance.latency) add(map, "latency", fmt::format("{}", *allowance.latency));
  add(map, "reason", yaml_quoted(allowance.reason));
  add(map, "expires", date_text(allowance.expires));
  return map;
}

}  // namespace

bool CellPattern::matches(const CellKey& cell, const std::string& cell_mix) const {
  return fits(case_id, cell.case_id) && fits(backend, cell.backend) && fits(mix, cell_mix);
}

Limits Policy::limits_of(const CellKey& cell, const std::string& mix) const {
  Limits chosen = default_limits();
  override_limits(chosen, limits);
  for (const PolicyRule& rule : rules) {
    if (rule.cells.matches(cell, mix)) override_limits(chosen, rule.limits);
  }
  return chosen;
}

std::string policy_text(const Policy& policy) {
  Limits general = default_limits();
  override_limits(general, policy.limits);
  std::string map;
  add_limits(map, general);
  std::string text = fmt::format("limits: {{{}}}\n", map);
  if (!policy.rules.empty()) text += "rules:\n";
  for (const PolicyRule& rule : policy.rules) {
    map.clear();
    add_pattern(map, rule.cells);
    add_limits(map, rule.limits);
    text += fmt::format("  - {{{}}}\n", map);
  }
  if (!policy.allowances.empty()) text += "allow:\n";
  for (const Allowance& allowance : policy.allowances) {
    text += fmt::format("  - {{{}}}\n", allowance_text(allowance));
  }
  return text;
}

std::optional<std::chrono::year_month_day> parse_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t size) {
    unsigned value = 0;
    const char* const end = text.data() + at + size;
    const auto [stop, error] = std::from_chars(text.data() + at, end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string date_text(const std::chrono::year_month_day& date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace attnbench
