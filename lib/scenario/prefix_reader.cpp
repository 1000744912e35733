// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// A prefix as it is written.
struct WrittenPrefix {
  std::string name;
  std::int64_t own_tokens = 0;
  std::string after;  ///< name of its parent; "" for none
  const YamlNode* after_node = nullptr;
  Place length_place;
};

/// A size, or a map of what it adds to another prefix.
WrittenPrefix read_prefix_entry(const YamlEntry& entry, Problems& problems) {
  const YamlNode& value = *entry.value;
  WrittenPrefix written;
  written.name = entry.key;
  written.length_place = value.place;
  if (!value.is_map()) {
    written.own_tokens = read_size(value, "prefix length", 1, kMaxSize, problems).value_or(0);
    return written;
  }
  const ScenarioMap map(value, "prefix", "a prefix", problems);
  if (const YamlNode* tokens = map.find("tokens")) {
    written.own_tokens = read_size(*tokens, "tokens", 1, kMaxSize, problems).value_or(0);
    written.length_place = tokens->place;
  } else if (map.sound()) {
    problems.add(value.place, fmt::format("prefix '{}' has no tokens", entry.key),
                 "for example {after: system, tokens: 1k}: 1024 tokens behind those of system");
  }
  written.after_node = map.find("after");
  if (written.after_node != nullptr && written.after_node->is_scalar()) {
    written.after = written.after_node->text;
  }
  return written;
}

/// Far more turns of a conversation than share pages in one step; it keeps a made-up chain from
/// filling the memory.
constexpr std::size_t kMostLevels = 64;

using PrefixesByName = std::unordered_map<std::string_view, const WrittenPrefix*>;

/// The prefix and all that it extends, itself first; itself alone after a mistake.
std::vector<const WrittenPrefix*> path_of(const PrefixesByName& by_name, const WrittenPrefix& last,
                                          Problems& problems) {
  std::vector<const WrittenPrefix*> path{&last};
  while (path.back()->after_node != nullptr) {
    const auto parent = by_name.find(path.back()->after);
    if (parent == by_name.end()) break;
    path.push_back(parent->second);
    if (parent->second == &last) {
      // The one that is declared first reports the circle, for all that are in it.
      if (*std::min_element(path.begin(), path.end()) != &last) return {&last};
      std::vector<std::string> names;
      for (const WrittenPrefix* each : path) names.push_back(each->name);
      problems.add(
          last.after_node->place,
          fmt::format("prefix '{}' comes after itself: {}", last.name, fmt::join(names, " after ")),
          "a prefix begins with the tokens of the one that it comes after");
      return {&last};
    }
    if (path.size() <= kMostLevels) continue;
    const bool ends_in_a_circle = std::find(path.begin(), path.end() - 1, path.back()) !=
                                  path.end() - 1;  // which reports itself
    if (!ends_in_a_circle) {
      problems.add(
          last.after_node->place,
          fmt::format("prefix '{}' comes after more than {} others", last.name, kMostLevels - 1));
    }
    return {&last};
  }
  return path;
}

}  // namespace

KeySection prefix_section() {
  return {
      "prefix",
      "a prefix",
      "prefixes.NAME",
      {{"tokens", by_section("a whole number from 1"), "That the prefix has of its own.", "", true},
       {"after", by_section("a name of `prefixes`", "none"),
        "The prefix whose tokens come before them: `{after: system, tokens: 1k}`."}}};
}

std::vector<PrefixSpec> read_prefixes(const YamlNode& node, Problems& problems) {
  std::vector<PrefixSpec> prefixes;
  if (!node.is_map()) {
    problems.add(node.place, fmt::format("prefixes takes a map, found {}", describe(node)),
                 "names with their lengths, for example prefixes: {system: 2k}");
    return prefixes;
  }
  std::vector<WrittenPrefix> written;
  for (const YamlEntry& entry : node.entries) {
    const bool named = check_name(entry.key, entry.place, "prefix", problems);
    WrittenPrefix each = read_prefix_entry(entry, problems);
    if (named) written.push_back(std::move(each));
  }
  PrefixesByName by_name;
  std::vector<std::string> names;
  for (const WrittenPrefix& each : written) {
    by_name.emplace(each.name, &each);
    names.push_back(each.name);
  }
  for (const WrittenPrefix& each : written) {
    if (each.after_node != nullptr && !by_name.contains(each.after)) {
      problems.add(each.after_node->place,
                   fmt::format("after takes the name of another prefix, found {}",
                               describe(*each.after_node)),
                   allowed_words_hint(std::span<const std::string>(names), each.after_node->text,
                                      "prefixes here: "));
    }
    const std::vector<const WrittenPrefix*> path = path_of(by_name, each, problems);
    std::vector<PrefixSpec> grown;  // the first one first
    std::int64_t length = 0;
    for (std::size_t i = path.size(); i-- > 0;) {
      length += path[i]->own_tokens;
      if (length > kMaxSize) {
        problems.add(
            path[i]->length_place,
            fmt::format("prefix '{}' has {} tokens with those before it", path[i]->name, length),
            "index arrays are int32: 2147483647 is the most");
        length = 0;
      }
      grown.push_back({path[i]->name, length, {}});
    }
    PrefixSpec prefix = std::move(grown.back());
    grown.pop_back();
    prefix.ancestors = std::move(grown);
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

}  // namespace attnbench
