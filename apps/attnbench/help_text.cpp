// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/help_text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>

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

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_text(std::size_t width) {
  return std::make_shared<HelpText>(width);
}

}  // namespace attnbench
