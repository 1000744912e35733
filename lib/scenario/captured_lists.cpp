// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/captured_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/chosen_keys.h"
#include "lib/config/key_values.h"
#include "lib/config/npy_reader.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// An .npy file that `key` of the pattern names, from the scenario's folder.
std::optional<std::vector<std::int32_t>> read_file(const StrictMap& pattern, std::string_view key,
                                                   std::vector<std::int64_t> shape,
                                                   const char* axes, Problems& problems) {
  const YamlNode& node = *pattern.find(key);
  const auto name = read_text(node, key, problems);
  if (!name) return std::nullopt;
  const std::filesystem::path folder = std::filesystem::path(problems.file()).parent_path();
  try {
    return read_npy_of_int32((folder / *name).string(), shape);
  } catch (const ConfigError& error) {
    problems.add(node.place, error.diagnostics().front().message, axes);
    return std::nullopt;
  }
}

/// Where a number of the file stands.
struct Entry {
  std::int64_t token = 0, group = 0, column = 0;
};

/// Which number is none that a list of the step can have, and what is allowed there.
struct WrongEntry {
  Entry at;
  std::int64_t found = 0, most = 0;
};

std::optional<WrongEntry> wrong_length(const ChosenKeys& lists) {
  for (std::size_t i = 0; i < lists.lengths.size(); ++i) {
    const std::int64_t length = lists.lengths[i];
    if (length >= 0 && length <= lists.width) continue;
    const auto list = static_cast<std::int64_t>(i);
    return WrongEntry{{list / lists.groups, list % lists.groups}, length, lists.width};
  }
  return std::nullopt;
}

/// Of the lists of a request whose first query is token `first` of the step.
std::optional<WrongEntry> wrong_unit(const Selection& rule, const ChosenKeys& lists,
                                     const Request& request, std::int64_t first) {
  for (std::int64_t token = 0; token < request.q_len; ++token) {
    const std::int64_t candidates = rule.candidates(request.prefix_len() + token);
    for (std::int64_t at = 0; at < lists.groups * lists.width; ++at) {
      const std::int64_t most = at / lists.width < rule.window_heads ? -1 : candidates - 1;
      const std::int64_t unit = lists.indices[to_size(token * lists.groups * lists.width + at)];
      if (unit >= -1 && unit <= most) continue;
      return WrongEntry{{first + token, at / lists.width, at % lists.width}, unit, most};
    }
  }
  return std::nullopt;
}

bool names_a_unit_twice(const ChosenKeys& lists) {
  for (std::int64_t list = 0; list < std::ssize(lists.lengths); ++list) {
    const auto counted = lists.list(list / lists.groups, list % lists.groups);
    std::vector<std::int32_t> units(counted.begin(), counted.end());
    std::erase(units, -1);
    std::ranges::sort(units);
    if (std::ranges::adjacent_find(units) != units.end()) return true;
  }
  return false;
}

/// Whether a column that does not count holds a unit.
bool holds_units_behind_lengths(const ChosenKeys& lists) {
  for (std::size_t i = 0; i < lists.indices.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % lists.width;
    const std::int32_t length = lists.lengths[i / to_size(lists.width)];
    if (column >= length && lists.indices[i] >= 0) return true;
  }
  return false;
}

}  // namespace

bool read_captured_lists(const StrictMap& mix, Case& c, Problems& problems) {
  Selection& rule = c.layer.selection;
  if (rule.pattern != SelectionPattern::kCaptured) return true;
  const YamlNode& selection = *mix.find("attention")->find("selection")->value;
  const ScenarioMap pattern(*selection.find("pattern")->value, "pattern", "pattern", problems);
  const std::int64_t tokens = c.q_tokens() + c.padding_q_tokens();
  ChosenKeys lists{.groups = c.layer.selection_groups(), .width = rule.topk, .unit = rule.unit};

  auto indices = read_file(
      pattern, "file", {tokens, lists.groups, lists.width},
      "int32 [query tokens with the batch's padding, groups of heads, topk], in C order", problems);
  if (!indices) return false;
  lists.indices = *std::move(indices);
  lists.lengths.assign(to_size(tokens * lists.groups), narrow_i32(lists.width));
  if (pattern.has("lengths")) {
    auto lengths = read_file(
        pattern, "lengths", {tokens, lists.groups},
        "int32 [query tokens with the batch's padding, groups of heads], in C order", problems);
    if (!lengths) return false;
    lists.lengths = *std::move(lengths);
    if (const auto wrong = wrong_length(lists)) {
      problems.add(pattern.place_of("lengths"),
                   fmt::format("topk_length {} of token {}, group {}", wrong->found,
                               wrong->at.token, wrong->at.group),
                   fmt::format("0 to {}, the topk, columns count", wrong->most));
      return false;
    }
  }
  rule.has_duplicates = names_a_unit_twice(lists);
  rule.padding =
      holds_units_behind_lengths(lists) ? SelectionPadding::kRepeat : SelectionPadding::kEnd;
  std::int64_t first = 0;
  for (Request& request : c.requests) {
    auto own = std::make_shared<ChosenKeys>(lists.of_tokens(first, request.q_len));
    if (const auto wrong = wrong_unit(rule, *own, request, first)) {
      problems.add(
          pattern.place_of("file"),
          fmt::format("unit {} of token {}, group {}, column {}", wrong->found, wrong->at.token,
                      wrong->at.group, wrong->at.column),
          wrong->most < 0
              ? rule.names_complete_units()
                    ? "-1 only: there is no complete unit before its window, or "
                      "its KV head sees the window only"
                    : "-1 only: the query stands before key 0"
              : fmt::format("-1, or 0 to {}: the {}units of {} {} the query's own, which is at {}",
                            wrong->most, rule.names_complete_units() ? "complete " : "",
                            rule.unit == 1 ? "1 key" : fmt::format("{} keys", rule.unit),
                            rule.window > 0 ? fmt::format("before the {} keys up to", rule.window)
                                            : "up to",
                            request.prefix_len() + wrong->at.token - first));
      return false;
    }
    first += request.q_len;
    request.captured = std::move(own);
  }
  return true;
}

KeySection captured_section() {
  return {"pattern",
          "pattern",
          "mixes.NAME.attention.selection.pattern",
          {{"file", by_section("a path"),
            "An `.npy` file of int32 [query tokens, groups, topk], from the scenario's folder: "
            "units among the keys of the token's request, -1 for none, such as `topk_indices.npy` "
            "of a dump. With `padding` the batch's rows of padding are part of it.",
            "", true},
           {"lengths", by_section("a path", "all columns count"),
            "The same of int32 [query tokens, groups]: how many columns of a list count, "
            "`topk_length.npy` of a dump."}},
          "for example {file: topk_indices.npy, lengths: topk_length.npy}"};
}

}  // namespace attnbench
