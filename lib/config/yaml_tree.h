// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"

namespace attnbench {

struct YamlNode;
/// Shared, because an alias is the very node of its anchor; const, because sweeps make variants
/// that share what they do not change.
using YamlPtr = std::shared_ptr<const YamlNode>;

struct YamlEntry {
  std::string key;
  Place place;        ///< of the key
  std::string owner;  ///< path of the map that it is written in, also after a merge
  YamlPtr value;
};

/// A YAML value with its place in the file. Merge keys (<<) are resolved: local keys win, then
/// earlier merges.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Place place;
  std::string path;  ///< "mixes.chat.batch[0]", where it is written; "" for the whole file
  std::string text;  ///< kScalar
  std::vector<YamlPtr> items;      ///< kList
  std::vector<YamlEntry> entries;  ///< kMap, keys distinct

  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
  [[nodiscard]] bool is_list() const { return kind == Kind::kList; }
  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }
  [[nodiscard]] const YamlEntry* find(std::string_view key) const;
};

/// A node as error messages name it: "'text'", "a list", "a map", "nothing".
[[nodiscard]] std::string describe(const YamlNode& node);

/// A node on one line, in YAML's flow style: "16", "[1, 4k]", "{topk: 4, depth: 3}".
[[nodiscard]] std::string flow_text(const YamlNode& node);

/// Reads one YAML document. What is not YAML, a key given twice or a merge of something else than
/// maps goes to `problems`; null if nothing useful was read.
[[nodiscard]] YamlPtr read_yaml(const std::string& text, Problems& problems);

/// A scalar that no file contains, standing at `place`: the values of a range.
[[nodiscard]] YamlPtr make_scalar(std::string text, const Place& place, std::string path);

/// `node` (a map) with `key` set to `value`; the entry keeps its place or takes `place`.
[[nodiscard]] YamlPtr with_entry(const YamlNode& node, std::string_view key, const Place& place,
                                 YamlPtr value);

/// `node` (a list) with item `index` replaced.
[[nodiscard]] YamlPtr with_item(const YamlNode& node, std::size_t index, YamlPtr value);

}  // namespace attnbench
