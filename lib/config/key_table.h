// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// What a key takes: in words for the reference, and as a function for the reader.
struct KeyValue {
  std::string takes;    ///< "true or false"
  std::string usual;    ///< the default as a file would write it; "" where there is none
  std::string section;  ///< the section of the map that the value may be, or ""
  /// The struct that `read` writes to; null where the function that reads the section knows more.
  const std::type_info* into = nullptr;
  /// Reads the value of `key`; false after a mistake, which is reported.
  std::function<bool(const YamlNode&, std::string_view key, void* into, Problems&)> read;
};

/// A key of a file's language: all that reader, messages and reference know of it.
struct KeyRow {
  std::string_view name;
  KeyValue value;
  std::string_view says;     ///< one sentence or two
  std::string_view usual{};  ///< the default where it is not value.usual
  bool required = false;

  [[nodiscard]] std::string_view default_text() const {
    return required ? "required" : usual.empty() ? std::string_view(value.usual) : usual;
  }
};

/// The keys that one kind of map allows, in the order in which messages list them.
struct KeySection {
  std::string_view name;
  std::string_view spoken;  ///< in messages: "a mix"
  std::string_view where;   ///< in the reference: "mixes.NAME"
  std::vector<KeyRow> rows;
  std::string_view example{};  ///< hint of a map that lacks a required key

  [[nodiscard]] const KeyRow* find(std::string_view key) const;
};

/// All sections of one kind of file.
class KeyLanguage {
 public:
  explicit KeyLanguage(std::vector<KeySection> sections);

  [[nodiscard]] std::span<const KeySection> sections() const { return sections_; }
  /// The section of that name; it must exist.
  [[nodiscard]] const KeySection& section(std::string_view name) const;

  /// "did you mean 'kv_len'?   allowed here: name count ..."; the question only if a key is near. A
  /// key of other sections: "'rows' belongs in verify   allowed here: ...".
  [[nodiscard]] std::string hint(const KeySection& section, std::string_view found) const;

 private:
  std::vector<KeySection> sections_;
};

/// The reference of a language in Markdown: a table for each section.
[[nodiscard]] std::string reference_of(const KeyLanguage& language);

}  // namespace attnbench
