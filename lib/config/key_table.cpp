// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/key_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/config/key_values.h"
#include "lib/config/word_hints.h"

namespace attnbench {
namespace {

/// The anchor that a heading gets on a page.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c >= 'A' && c <= 'Z') anchor += static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-') anchor += c;
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

/// The text of a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) c == '|' ? result += "&#124;" : result += c;
  return result;
}

}  // namespace

const KeyRow* KeySection::find(std::string_view key) const {
  const auto found = std::ranges::find(rows, key, &KeyRow::name);
  return found == rows.end() ? nullptr : &*found;
}

KeyLanguage::KeyLanguage(std::vector<KeySection> sections) : sections_(std::move(sections)) {}

const KeySection& KeyLanguage::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &KeySection::name);
  expects(found != sections_.end(), "a section that its language does not have");
  return *found;
}

std::string KeyLanguage::hint(const KeySection& section, std::string_view found) const {
  std::vector<std::string_view> names;
  for (const KeyRow& key : section.rows) names.push_back(key.name);
  // YAML reads "batch:8q1s4k" as one word.
  const std::size_t colon = found.find(':');
  if (colon != std::string_view::npos && section.find(found.substr(0, colon)) != nullptr) {
    return fmt::format("a space is missing behind the colon: '{}: {}'", found.substr(0, colon),
                       found.substr(colon + 1));
  }
  if (section.name == "sweep" && likely_names(found, names).empty()) {
    const std::string_view quote = found.find('[') == std::string_view::npos ? "" : "\"";
    return fmt::format("paths stand inside grid or zip: sweep: {{grid: {{{0}{1}{0}: [...]}}}}",
                       quote, found);
  }
  // The right key in the wrong map: more likely than a misspelt other one.
  const auto homes_of = [&](std::string_view key) {
    std::vector<std::string_view> homes;
    for (const KeySection& other : sections_) {
      if (other.find(key) != nullptr) homes.push_back(other.spoken);
    }
    return homes;
  };
  std::vector<std::string_view> homes = homes_of(found);
  std::string_view key = found;
  if (homes.empty() && section.find(own_word(found)) == nullptr) {
    key = own_word(found);
    homes = homes_of(key);
  }
  if (!homes.empty()) {
    return fmt::format("'{}' belongs in {}   allowed here: {}", key, fmt::join(homes, " or "),
                       fmt::join(names, " "));
  }
  return allowed_words_hint(std::span<const std::string_view>(names), found);
}

std::string reference_of(const KeyLanguage& language) {
  std::string page;
  for (const KeySection& section : language.sections()) {
    page += fmt::format("\n## {}\n\n| key | takes | default | what it says |\n|---|---|---|---|\n",
                        section.where);
    for (const KeyRow& row : section.rows) {
      std::string takes = cell(row.value.takes);
      if (!row.value.section.empty()) {
        takes =
            fmt::format("[{}](#{})", takes, anchor_of(language.section(row.value.section).where));
      }
      page += fmt::format("| `{}` | {} | {} | {} |\n", row.name, takes, cell(row.default_text()),
                          cell(row.says));
    }
  }
  return page;
}

KeyValue by_section(std::string takes, std::string usual) {
  return {.takes = std::move(takes), .usual = std::move(usual)};
}

KeyValue map_of(std::string section, std::string takes) {
  return {.takes = std::move(takes), .section = std::move(section)};
}

std::string size_text(std::int64_t size) {
  constexpr std::int64_t kKilo = 1024;
  return size >= kKilo && size % kKilo == 0 ? fmt::format("{}k", size / kKilo)
                                            : fmt::format("{}", size);
}

std::string list_of_words(std::span<const std::string_view> words) {
  return fmt::format("`{}`", fmt::join(words, "` `"));
}

std::vector<const YamlNode*> one_or_more(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  if (!node.is_list()) return {&node};
  std::vector<const YamlNode*> nodes;
  for (const YamlPtr& item : node.items) nodes.push_back(item.get());
  if (nodes.empty()) problems.add(node.place, fmt::format("{} is an empty list", what));
  return nodes;
}

void refuse_second(const YamlNode& node, Problems& problems) {
  problems.add(node.place, fmt::format("'{}' is listed twice", node.text));
}

}  // namespace attnbench
