// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// A key of the scenario language. `section` names the keys of the map that it may hold, or "".
struct ScenarioKey {
  std::string_view name;
  std::string_view section;
};

/// The keys that one kind of map allows, in the order in which messages list them.
struct KeySection {
  std::string_view name;
  std::span<const ScenarioKey> keys;

  [[nodiscard]] const ScenarioKey* find(std::string_view key) const;
};

/// The whole language as data: the parser reads no other key, scenarios/README.md documents each.
[[nodiscard]] std::span<const KeySection> key_sections();

/// The section of that name; it must exist.
[[nodiscard]] const KeySection& key_section(std::string_view name,
                                            std::span<const KeySection> language = key_sections());

/// What engines, libraries and config files call otherwise: 'window' for "sliding_window", 'e4m3'
/// for "fp8", in whatever case; any other word as it is.
[[nodiscard]] std::string_view own_word(std::string_view found);

/// "did you mean 'kv_len'?   allowed here: name count ..."; the question only if a key is near. A
/// key of other sections: "'rows' belongs in verify   allowed here: ...".
/// `language` holds all sections of the file.
[[nodiscard]] std::string allowed_keys_hint(const KeySection& section, std::string_view found,
                                            std::span<const KeySection> language = key_sections());

/// The same for any list of words.
[[nodiscard]] std::string allowed_words_hint(std::span<const std::string_view> words,
                                             std::string_view found,
                                             std::string_view introduction = "allowed here: ");
[[nodiscard]] std::string allowed_words_hint(std::span<const std::string> words,
                                             std::string_view found,
                                             std::string_view introduction = "allowed here: ");

}  // namespace attnbench
