// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/policy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/glob.h"
#include "lib/base/regular_file.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
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

namespace {

constexpr std::size_t kMaxPolicyBytes = std::size_t{1} << 20;

/// Verdicts that can be known beforehand and accepted. Other conditions are waived by --allow.
constexpr std::array kAllowable = {GateVerdict::kIncorrect,   GateVerdict::kRegressed,
                                   GateVerdict::kSuspect,     GateVerdict::kMissing,
                                   GateVerdict::kSkippedNow,  GateVerdict::kNoVerdict,
                                   GateVerdict::kInconclusive};

bool read_floor(const YamlNode& node, Limits& limits, Problems& problems) {
  const auto seconds = read_duration(node, "latency_floor", problems);
  if (seconds) limits.latency_floor_us = *seconds * 1e6;
  return seconds.has_value();
}

bool read_support(const YamlNode& node, Limits& limits, Problems& problems) {
  constexpr std::array<std::string_view, 2> kWords = {"required", "optional"};
  const auto word = read_choice(node, "support", kWords, problems);
  if (word) limits.must_run = *word == 0;
  return word.has_value();
}

std::vector<KeyRow> limit_rows() {
  return {{"latency", fraction(&Limits::latency), "A cell that is slower by more has regressed."},
          {"latency_floor", by_hand(read_floor, "a time"), "And slower by more than this."},
          {"error", positive(&Limits::error), "The largest error / bound."},
          {"roofline", fraction(&Limits::roofline), "The smallest part of the roofline."},
          {"support", by_hand(read_support, "`required` `optional`"), "Whether it must run."}};
}

/// `rows` behind those that choose cells.
std::vector<KeyRow> with_pattern(std::vector<KeyRow> rows) {
  const KeyRow pattern[] = {{"case", a_text(&CellPattern::case_id), "A glob of case ids."},
                            {"backend", a_text(&CellPattern::backend), "A glob of backends."},
                            {"mix", a_text(&CellPattern::mix), "A glob of mixes."}};
  rows.insert(rows.begin(), std::begin(pattern), std::end(pattern));
  return rows;
}

const KeyLanguage& policy_language() {
  static const KeyLanguage language(
      {{"the top level",
        "the top level",
        "The file",
        {{"limits", map_of("limits"), "Of all cells."},
         {"rules", by_section("a list of maps"), "Of some cells; a later one overrides."},
         {"allow", by_section("a list of maps"), "Verdicts that are accepted for a while."}}},
       {"limits", "limits", "limits", limit_rows()},
       {"rules", "rules", "rules[]", with_pattern(limit_rows())},
       {"allow", "allow", "allow[]",
        with_pattern(
            {{"verdict", by_section("a verdict, or a list"), "What is accepted.", "", true},
             {"latency", fraction(&Allowance::latency), "REGRESSED up to this part."},
             {"reason", a_text(&Allowance::reason), "For whoever reads the report.", "", true},
             {"expires", by_section("a date"), "The last day on which it counts.", "", true}})}});
  return language;
}

template <class T>
T read_of(const StrictMap& map, Problems& problems) {
  T values;
  static_cast<void>(read_rows(map, values, problems));
  return values;
}

std::vector<GateVerdict> read_verdicts(const YamlNode& node, Problems& problems) {
  std::array<std::string_view, kAllowable.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = to_string(kAllowable[i]);
  std::vector<GateVerdict> verdicts;
  const auto read = [&](const YamlNode& item) {
    const auto word = read_choice(item, "verdict", words, problems);
    if (word) verdicts.push_back(kAllowable[*word]);
  };
  if (!node.is_list()) read(node);
  for (const YamlPtr& item : node.items) read(*item);
  if (node.is_list() && node.items.empty()) problems.add(node.place, "verdict is an empty list");
  return verdicts;
}

/// The value of a key that has no default.
const YamlNode* required(const StrictMap& map, std::string_view key, std::string_view hint,
                         Problems& problems) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr && map.sound()) {
    problems.add(map.node().place, fmt::format("an allowance needs {}", key), std::string(hint));
  }
  return node;
}

Allowance read_allowance(const YamlNode& node, Problems& problems) {
  const StrictMap map(node, policy_language(), "allow", "an allowance", problems);
  auto allowance = read_of<Allowance>(map, problems);
  allowance.line = node.place.line;
  allowance.cells = read_of<CellPattern>(map, problems);
  if (const YamlNode* verdict =
          required(map, "verdict", "verdict: REGRESSED, or a list of verdicts", problems)) {
    allowance.verdicts = read_verdicts(*verdict, problems);
  }
  static_cast<void>(
      required(map, "reason", "reason: a sentence for whoever reads the report", problems));
  const YamlNode* const expires =
      required(map, "expires", "expires: 2026-12-31, the last day on which it counts", problems);
  if (expires == nullptr) return allowance;
  const auto date = expires->is_scalar() ? parse_date(expires->text) : std::nullopt;
  if (date) {
    allowance.expires = *date;
  } else {
    problems.add(expires->place, fmt::format("expires takes a date, found {}", describe(*expires)),
                 "year-month-day, as in 2026-12-31");
  }
  return allowance;
}

/// Calls `read` with each item of a list.
template <class Read>
void each_item(const StrictMap& map, std::string_view key, Problems& problems, const Read& read) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return;
  if (!node->is_list()) {
    problems.add(node->place, fmt::format("{} takes a list, found {}", key, describe(*node)));
    return;
  }
  for (const YamlPtr& item : node->items) read(*item);
}

}  // namespace

Policy parse_policy(const std::string& text, const std::string& path) {
  Problems problems(text, path);
  Policy policy;
  policy.path = path;
  const YamlPtr root = read_yaml(text, problems);
  problems.throw_if_any();
  if (root == nullptr) return policy;
  const StrictMap map(*root, policy_language(), "the top level", "a policy", problems);
  if (const YamlNode* limits = map.find("limits")) {
    policy.limits =
        read_of<Limits>({*limits, policy_language(), "limits", "limits", problems}, problems);
  }
  each_item(map, "rules", problems, [&](const YamlNode& node) {
    const StrictMap rule(node, policy_language(), "rules", "a rule", problems);
    policy.rules.push_back({read_of<CellPattern>(rule, problems), read_of<Limits>(rule, problems)});
  });
  each_item(map, "allow", problems, [&](const YamlNode& node) {
    policy.allowances.push_back(read_allowance(node, problems));
  });
  problems.throw_if_any();
  return policy;
}

Policy read_policy(const std::string& path) {
  return parse_policy(read_regular_file(path, kMaxPolicyBytes), path);
}

}  // namespace attnbench
