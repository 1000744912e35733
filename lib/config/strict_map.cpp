// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/strict_map.h"

#include <fmt/format.h>

namespace attnbench {

StrictMap::StrictMap(const YamlNode& node, const KeyLanguage& language, std::string_view section,
                     std::string_view what, Problems& problems)
    : node_(&node), what_(what), section_(&language.section(section)) {
  if (!node.is_map()) {
    sound_ = false;
    problems.add(node.place, fmt::format("{} takes a map, found {}", what, describe(node)),
                 language.hint(*section_, node.is_scalar() ? node.text : ""));
    return;
  }
  for (const YamlEntry& entry : node.entries) {
    // As in Docker Compose files: a place for anchors that the file's own maps merge.
    if (section == "scenario" && entry.key.starts_with("x-")) continue;
    if (section_->find(entry.key) == nullptr) {
      sound_ = false;
      const std::string where = entry.owner.empty() ? "at the top level" : "in " + entry.owner;
      problems.add(entry.place, fmt::format("unknown key '{}' {}", entry.key, where),
                   language.hint(*section_, entry.key));
    } else if (entry.value->kind == YamlNode::Kind::kNull) {
      problems.add(entry.place, fmt::format("{} has no value", entry.key),
                   "give it one, or leave the key out where it has a default");
    }
  }
}

const YamlNode* StrictMap::find(std::string_view key) const {
  expects(section_->find(key) != nullptr, "the parser reads a key that is not declared");
  const YamlEntry* entry = node_->find(key);
  return entry == nullptr || entry->value->kind == YamlNode::Kind::kNull ? nullptr
                                                                         : entry->value.get();
}

Place StrictMap::place_of(std::string_view key) const {
  const YamlEntry* entry = node_->find(key);
  return entry == nullptr ? node_->place : entry->place;
}

bool StrictMap::has_required(Problems& problems) const {
  for (const KeyRow& row : section_->rows) {
    if (!row.required || has(row.name)) continue;
    if (sound_) {
      problems.add(node_->place, fmt::format("{} has no {}", what_, row.name),
                   std::string(section_->example));
    }
    return false;
  }
  return true;
}

}  // namespace attnbench
