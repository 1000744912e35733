// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/word_hints.h"

namespace attnbench {

// Values of options, read by the readers of the scenario language, so that a command line accepts
// exactly what a file accepts. CLI11's own conversions take -1 for an unsigned number and nan for a
// positive one.

/// Takes an enumeration's words on the command line. CLI11's own transformer writes the values of
/// an 8-bit enumeration as characters into help and errors.
template <class Enum>
[[nodiscard]] CLI::Validator words_of(const std::map<std::string, Enum>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  return CLI::Validator(
      [values, words](std::string& input) {
        const auto found = values.find(input);
        if (found == values.end()) {
          return "unknown word '" + input + "'   " + allowed_words_hint(words, input);
        }
        input = std::to_string(static_cast<int>(found->second));
        return std::string();
      },
      "");
}

/// A whole number in [lo, hi]; 4k is 4096.
[[nodiscard]] CLI::Validator whole_number(std::string what, std::int64_t lo, std::int64_t hi);
/// A size of memory in bytes; 141g is 141 x 1024^3.
[[nodiscard]] CLI::Validator memory_size(std::string what);
/// "0.5%" or 0.005.
[[nodiscard]] CLI::Validator fraction(std::string what);
/// "500ms", "20s", "2min", or a number of seconds; at most eleven days.
[[nodiscard]] CLI::Validator seconds(std::string what);
/// An empty word is most often a variable that is not set: it must not quietly mean "none".
[[nodiscard]] CLI::Validator not_empty();

/// Declares --seed.
CLI::Option* add_seed_option(CLI::App& app, std::optional<std::uint64_t>& seed);

}  // namespace attnbench
