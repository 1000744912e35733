// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// A map of a data file, whose fields are read by name. Each `read` leaves a field whose key is
/// absent as it is, and reports a value of another type or out of range.
class DataRow {
 public:
  /// Reports a node that is no map, and reads it as an empty one.
  DataRow(const YamlNode& node, Problems& problems);

  void read(std::string_view key, bool& field);
  void read(std::string_view key, double& field);  ///< greater than zero
  void read(std::string_view key, std::string& field);
  void read(std::string_view key, std::vector<std::string>& field);
  void read(std::string_view key, std::vector<std::int64_t>& field);
  template <class Int>
  requires std::is_integral_v<Int>
  void read(std::string_view key, Int& field) {
    std::int64_t value = field;
    read_count(key, value, std::numeric_limits<std::int32_t>::max());
    field = static_cast<Int>(value);
  }
  /// `words` are those of the enumerators, in their order.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(std::string_view key, Enum& field, std::span<const std::string_view> words) {
    field = static_cast<Enum>(read_word(key, static_cast<std::size_t>(field), words));
  }

  /// The value of a key for the caller to read; null where it is absent.
  [[nodiscard]] const YamlNode* find(std::string_view key);
  /// The same of a key that must be there: where it is absent, that is reported, and the value is a
  /// node without entries and items.
  [[nodiscard]] const YamlNode& at(std::string_view key);

  /// Reports the keys that nobody asked for. Call it behind the last read.
  void refuse_others();

 private:
  void read_count(std::string_view key, std::int64_t& field, std::int64_t most);
  [[nodiscard]] std::size_t read_word(std::string_view key, std::size_t field,
                                      std::span<const std::string_view> words);

  const YamlNode* node_;
  Problems* problems_;
  std::vector<std::string> asked_;
};

/// The entries of a node that must be a map, and the items of one that must be a list. Another node
/// is reported, and has none.
[[nodiscard]] std::span<const YamlEntry> map_entries(const YamlNode& node, Problems& problems);
[[nodiscard]] std::span<const YamlPtr> list_items(const YamlNode& node, Problems& problems);

/// Hands the root of a data file to `read(root, problems)`. Throws a ConfigError that names the
/// file and all its mistakes.
template <class Read>
void read_data(std::string_view text, std::string file, const Read& read) {
  Problems problems(text, std::move(file));
  const YamlPtr root = read_yaml(std::string(text), problems);
  problems.throw_if_any();
  read(*root, problems);
  problems.throw_if_any();
}

}  // namespace attnbench
