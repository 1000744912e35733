// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/data_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"

namespace attnbench {

std::span<const YamlEntry> map_entries(const YamlNode& node, Problems& problems) {
  if (!node.is_map()) problems.add(node.place, "takes a map, found " + describe(node));
  return node.entries;
}

std::span<const YamlPtr> list_items(const YamlNode& node, Problems& problems) {
  if (!node.is_list()) problems.add(node.place, "takes a list, found " + describe(node));
  return node.items;
}

DataRow::DataRow(const YamlNode& node, Problems& problems) : node_(&node), problems_(&problems) {
  (void)map_entries(node, problems);
}

const YamlNode* DataRow::find(std::string_view key) {
  asked_.emplace_back(key);
  const YamlEntry* entry = node_->find(key);
  return entry == nullptr ? nullptr : entry->value.get();
}

const YamlNode& DataRow::at(std::string_view key) {
  static const YamlNode kNothing;
  const YamlNode* found = find(key);
  if (found == nullptr) problems_->add(node_->place, fmt::format("{} is missing", key));
  return found == nullptr ? kNothing : *found;
}

void DataRow::read(std::string_view key, bool& field) {
  if (const YamlNode* node = find(key)) field = read_bool(*node, key, *problems_).value_or(field);
}

void DataRow::read(std::string_view key, double& field) {
  if (const YamlNode* node = find(key)) {
    field = read_positive(*node, key, *problems_).value_or(field);
  }
}

void DataRow::read(std::string_view key, std::string& field) {
  if (const YamlNode* node = find(key)) field = read_text(*node, key, *problems_).value_or(field);
}

void DataRow::read(std::string_view key, std::vector<std::string>& field) {
  const YamlNode* list = find(key);
  if (list == nullptr) return;
  field.clear();
  for (const YamlPtr& item : list_items(*list, *problems_)) {
    field.push_back(read_text(*item, key, *problems_).value_or(""));
  }
}

void DataRow::read(std::string_view key, std::vector<std::int64_t>& field) {
  const YamlNode* list = find(key);
  if (list == nullptr) return;
  field.clear();
  for (const YamlPtr& item : list_items(*list, *problems_)) {
    field.push_back(read_size(*item, key, 1, kMaxSize, *problems_).value_or(1));
  }
}

void DataRow::read_count(std::string_view key, std::int64_t& field, std::int64_t most) {
  if (const YamlNode* node = find(key)) {
    field = read_size(*node, key, 0, most, *problems_).value_or(field);
  }
}

std::size_t DataRow::read_word(std::string_view key, std::size_t field,
                               std::span<const std::string_view> words) {
  const YamlNode* node = find(key);
  return node == nullptr ? field : read_choice(*node, key, words, *problems_).value_or(field);
}

void DataRow::refuse_others() {
  for (const YamlEntry& entry : node_->entries) {
    if (std::ranges::find(asked_, entry.key) != asked_.end()) continue;
    problems_->add(entry.place, fmt::format("unknown key '{}'", entry.key),
                   allowed_words_hint(asked_, entry.key));
  }
}

}  // namespace attnbench
