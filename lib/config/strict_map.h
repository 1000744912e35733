// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lib/config/key_table.h"
#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// A map read through the keys of its section: every other key is a mistake, reported on
/// construction with its place, the nearest key and all that are allowed.
class StrictMap {
 public:
  /// Anything but a map is reported too and read as an empty one. `what` names it in messages.
  StrictMap(const YamlNode& node, const KeyLanguage& language, std::string_view section,
            std::string_view what, Problems& problems);

  /// The value of a key of this section, or null if it is absent or holds nothing.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  /// Place of the key, or of the map if the key is absent.
  [[nodiscard]] Place place_of(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const YamlNode& node() const { return *node_; }
  /// False if the node is no map or has unknown keys: then a missing key is probably a misspelt
  /// one, and is not reported as a second mistake.
  [[nodiscard]] bool sound() const { return sound_; }
  [[nodiscard]] const KeySection& section() const { return *section_; }
  /// Whether all required keys are there; reports the first that is not, unless it may be misspelt.
  [[nodiscard]] bool has_required(Problems& problems) const;

 private:
  const YamlNode* node_;
  std::string what_;
  const KeySection* section_;
  bool sound_ = true;
};

}  // namespace attnbench
