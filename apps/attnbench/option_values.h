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
#include "lib/device/cpu/cpu_info.h"

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

/// An option that lists words with commas. Its results stay words, as they stand on the command
/// lines of processes that are given them.
template <class Enum>
void add_list_option(CLI::App& app, const std::string& name, std::vector<Enum>& into,
                     const std::map<std::string, Enum>& values, const std::string& list,
                     const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [&into, values](const std::vector<std::string>& words) {
           into.clear();
           for (const std::string& word : words) into.push_back(values.at(word));
         },
         help)
      ->option_text(list)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(words_of(values));
}

/// A whole number in [lo, hi]; 4k is 4096.
[[nodiscard]] CLI::Validator whole_number(std::string what, std::int64_t lo, std::int64_t hi);
/// A size of memory in bytes; 141g is 141 x 1024^3.
[[nodiscard]] CLI::Validator memory_size(std::string what);
/// "0.5%" or 0.005.
[[nodiscard]] CLI::Validator fraction(std::string what);
/// The same from 0 to 1, both of which may be meant.
[[nodiscard]] CLI::Validator share(std::string what);
/// "500ms", "20s", "2min", or a number of seconds; at most eleven days.
[[nodiscard]] CLI::Validator seconds(std::string what);
/// An empty word is most often a variable that is not set: it must not quietly mean "none".
[[nodiscard]] CLI::Validator not_empty();

// Options of several commands.

CLI::Option* add_seed_option(CLI::App& app, std::optional<std::uint64_t>& seed);
CLI::Option* add_threads_option(CLI::App& app, int& threads);
CLI::Option* add_tp_option(CLI::App& app, int& tp);
/// --format, "table" or "json".
CLI::Option* add_format_option(CLI::App& app, std::string& format);
/// --case, of ids and globs.
CLI::Option* add_case_option(CLI::App& app, std::vector<std::string>& cases,
                             const std::string& help = "only these case ids; * and ? match");
/// --backend, of names with commas.
CLI::Option* add_backend_option(CLI::App& app, std::vector<std::string>& backends,
                                const std::string& help);

/// --cpu-target of the commands that run CPU backends.
struct CpuTargetOption {
  std::string name;  ///< empty: not given

  void add_to(CLI::App& command);

  /// Throws as cpu_target_named does, which is why it waits until the command runs.
  [[nodiscard]] CpuTarget target() const {
    return name.empty() ? best_cpu_target() : cpu_target_named(name);
  }
};

}  // namespace attnbench
