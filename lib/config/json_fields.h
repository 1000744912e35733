// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

/// A JSON object read field by field. What is there and is not what it should be is a ConfigError
/// with its path ("text_config.head_dim is -8, not a whole number from 1 to 4096"). A field that is
/// absent and a field that is null are told apart: to transformers they are not the same.
class JsonFields {
 public:
  /// `path` is the object's own, "" for the whole file.
  JsonFields(const nlohmann::json& object, std::string path);

  [[nodiscard]] bool has(std::string_view key) const;  ///< null counts
  [[nodiscard]] bool is_null(std::string_view key) const;
  [[nodiscard]] bool is_false(std::string_view key) const;
  /// Absent, or a way to say that there is nothing of it: null, false, a number below 1, or an
  /// empty list, object or word.
  [[nodiscard]] bool says_none(std::string_view key) const;
  /// Present and not null.
  [[nodiscard]] bool states(std::string_view key) const { return has(key) && !is_null(key); }
  [[nodiscard]] std::string path_of(std::string_view key) const;
  /// Keys that no call has asked for yet, neither of this object nor of a copy.
  [[nodiscard]] std::vector<std::string> unread_keys() const;

  /// Each returns nullopt for an absent field alone; a null is as wrong as a word.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key, std::int64_t lo,
                                                  std::int64_t hi) const;
  [[nodiscard]] std::optional<double> number(std::string_view key, double lo, double hi) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> word(std::string_view key) const;
  [[nodiscard]] std::optional<JsonFields> object(std::string_view key) const;
  /// Whole numbers in [lo, hi], or words.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view key,
                                                                std::int64_t lo,
                                                                std::int64_t hi) const;
  [[nodiscard]] std::optional<std::vector<std::string>> words(std::string_view key) const;

 private:
  [[nodiscard]] const nlohmann::json* find(std::string_view key) const;

  const nlohmann::json* object_;
  std::string path_;
  std::shared_ptr<std::set<std::string>> read_;  ///< what was asked for
};

/// Parses the text of a JSON object. The ConfigError for anything else gives the place and quotes
/// nothing: the file may hold private text that must not be shown.
[[nodiscard]] nlohmann::json parse_json_object(std::string_view text);

/// A word from a file, fit to be shown: quoted, control characters escaped, cut when long.
[[nodiscard]] std::string shown(const std::string& word);

}  // namespace attnbench
