// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/regular_file.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/gate/policy.h"

namespace attnbench {
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
