// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "lib/scenario/scenario_keys.h"

namespace attnbench {

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

}  // namespace attnbench
