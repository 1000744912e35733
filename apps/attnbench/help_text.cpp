// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/help_text.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

/// Longer lines are tiring to read on however wide a terminal.
constexpr std::size_t kMostWidth = 100;
/// Of names and descriptions side by side, and where these begin; below it they stand one below
/// the other.
constexpr std::size_t kFewestForTwo = 70, kDescriptions = 30, kNarrowDescriptions = 6;

std::string_view first_paragraph(std::string_view text) {
  return text.substr(0, text.find("\n\n"));
}

std::string_view first_sentence(std::string_view text) {
  const std::string_view paragraph = first_paragraph(text);
  return paragraph.substr(0, std::min(paragraph.find(". "), paragraph.size() - 1) + 1);
}

class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::size_t width) : width_(std::min(width, kMostWidth)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), first_sentence(command->get_description()));
  }

  std::string make_description(const CLI::App* app) const override {
    const std::string text = CLI::Formatter::make_description(app);
    const std::string_view first = first_paragraph(text);
    if (width_ == 0 || first.empty()) return text;
    return wrapped(first, width_, 0) + text.substr(std::min(first.size() + 1, text.size()));
  }

 private:
  [[nodiscard]] std::string entry(const std::string& name, std::string_view description) const {
    const std::size_t column =
        width_ == 0 || width_ >= kFewestForTwo ? kDescriptions : kNarrowDescriptions;
    std::string text = "  " + name;
    if (description.empty()) return text + '\n';
    const std::string lines = width_ == 0
                                  ? std::string(column, ' ') + std::string(description) + '\n'
                                  : wrapped(description, width_, column);
    if (text.size() >= column) return text + '\n' + lines;
    return text + lines.substr(text.size());
  }

  std::size_t width_;
};

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

std::shared_ptr<CLI::FormatterBase> help_text(std::size_t width) {
  return std::make_shared<HelpText>(width);
}

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
