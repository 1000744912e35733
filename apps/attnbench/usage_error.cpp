// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/usage_error.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"

namespace attnbench {
namespace {

/// The innermost command that was recognised: "list" of "list foo".
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());  // the worker's is ""
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "attnbench list", "attnbench".
std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : path_of(*app.get_parent()) + ' ' + app.get_name();
}

std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> known = options_of(app);
  for (const std::string& word : words) {
    const std::string bare = word.substr(0, word.find('='));
    if (!bare.starts_with("--") || std::ranges::find(known, bare) != known.end()) continue;
    const std::string likely = likely_names(bare, known);
    if (likely.empty()) continue;
    return fmt::format("   did you mean {} instead of '{}'?\n", likely, bare);
  }
  return {};
}

/// Where a command is due: `left` is what CLI11 could not place.
std::string no_command(const CLI::App& app, const std::vector<std::string>& commands,
                       const std::vector<std::string>& left) {
  const auto word = std::ranges::find_if(left, [](const auto& w) { return !w.starts_with('-'); });
  if (word == left.end() && !left.empty()) {
    return fmt::format("error: unknown option '{}'\n{}", left.front(), unknown_option(app, left));
  }
  const bool given = word != left.end();
  return fmt::format("error: {}\n   {}\n",
                     given ? fmt::format("unknown command '{}'", *word) : "no command given",
                     allowed_words_hint(commands, given ? *word : "", "commands: "));
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  const CLI::App& chosen = innermost(app);
  const std::vector<std::string> commands = commands_of(chosen);
  std::string text = commands.empty()
                         ? fmt::format("error: {}\n{}", error.what(), unknown_option(chosen, words))
                         : no_command(chosen, commands, app.remaining(true));
  return text + fmt::format("   see: {} --help\n", path_of(chosen));
}

}  // namespace attnbench
