// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "lib/base/regular_file.h"
#include "lib/config/strict_map.h"
#include "lib/config/value_reader.h"
#include "lib/gate/policy.h"

namespace attnbench {
namespace {

constexpr std::size_t kMaxPolicyBytes = std::size_t{1} << 20;

constexpr ScenarioKey kPolicyKeys[] = {{"limits", "limits"}, {"rules", "rule"}, {"allow", "allow"}};
constexpr ScenarioKey kLimitKeys[] = {
    {"latency", ""}, {"latency_floor", ""}, {"error", ""}, {"roofline", ""}, {"support", ""}};
constexpr ScenarioKey kRuleKeys[] = {{"case", ""},     {"backend", ""},       {"mix", ""},
                                     {"latency", ""},  {"latency_floor", ""}, {"error", ""},
                                     {"roofline", ""}, {"support", ""}};
constexpr ScenarioKey kAllowKeys[] = {{"case", ""},    {"backend", ""}, {"mix", ""},
                                      {"verdict", ""}, {"latency", ""}, {"reason", ""},
                                      {"expires", ""}};
constexpr KeySection kPolicyLanguage[] = {{"the top level", kPolicyKeys},
                                          {"limits", kLimitKeys},
                                          {"rules", kRuleKeys},
                                          {"allow", kAllowKeys}};

/// Verdicts that can be known beforehand and accepted. Other conditions are waived by --allow.
constexpr std::array kAllowable = {GateVerdict::kIncorrect,   GateVerdict::kRegressed,
                                   GateVerdict::kSuspect,     GateVerdict::kMissing,
                                   GateVerdict::kSkippedNow,  GateVerdict::kNoVerdict,
                                   GateVerdict::kInconclusive};

Limits read_limits(const StrictMap& map, Problems& problems) {
  Limits limits;
  if (const YamlNode* node = map.find("latency")) {
    limits.latency = read_fraction(*node, "latency", problems);
  }
  if (const YamlNode* node = map.find("latency_floor")) {
    const auto seconds = read_duration(*node, "latency_floor", problems);
    if (seconds) limits.latency_floor_us = *seconds * 1e6;
  }
  if (const YamlNode* node = map.find("error")) {
    limits.error = read_positive(*node, "error", problems);
  }
  if (const YamlNode* node = map.find("roofline")) {
    limits.roofline = read_fraction(*node, "roofline", problems);
  }
  if (const YamlNode* node = map.find("support")) {
    const std::array<std::string_view, 2> words = {"required", "optional"};
    const auto word = read_choice(*node, "support", words, problems);
    if (word) limits.must_run = *word == 0;
  }
  return limits;
}

CellPattern read_pattern(const StrictMap& map, Problems& problems) {
  const auto text = [&](std::string_view key) {
    const YamlNode* const node = map.find(key);
    return node == nullptr ? std::string() : read_text(*node, key, problems).value_or("");
  };
  return {text("case"), text("backend"), text("mix")};
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
  const StrictMap map(node, "allow", "an allowance", problems, kPolicyLanguage);
  Allowance allowance;
  allowance.line = node.place.line;
  allowance.cells = read_pattern(map, problems);
  if (const YamlNode* verdict =
          required(map, "verdict", "verdict: REGRESSED, or a list of verdicts", problems)) {
    allowance.verdicts = read_verdicts(*verdict, problems);
  }
  if (const YamlNode* latency = map.find("latency")) {
    allowance.latency = read_fraction(*latency, "latency", problems);
  }
  if (const YamlNode* reason =
          required(map, "reason", "reason: a sentence for whoever reads the report", problems)) {
    allowance.reason = read_text(*reason, "reason", problems).value_or("");
  }
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
  const StrictMap map(*root, "the top level", "a policy", problems, kPolicyLanguage);
  if (const YamlNode* limits = map.find("limits")) {
    const StrictMap limits_map(*limits, "limits", "limits", problems, kPolicyLanguage);
    policy.limits = read_limits(limits_map, problems);
  }
  each_item(map, "rules", problems, [&](const YamlNode& node) {
    const StrictMap rule(node, "rules", "a rule", problems, kPolicyLanguage);
    policy.rules.push_back({read_pattern(rule, problems), read_limits(rule, problems)});
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
