// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/in_process.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/printable.h"
#include "lib/base/system.h"
#include "lib/config/word_hints.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

constexpr const char* kDescription =
    "attnbench: which attention backend is right, and how fast, on your batches.\n\n"
    "  attnbench run scenarios/quickstart.yaml\n"
    "  attnbench expand scenarios/quickstart.yaml\n\n"
    "attnbench COMMAND --help shows a command's options and more examples.\n";

constexpr const char* kExitCodes =
    "exit codes:\n"
    "  0    ok\n"
    "  1    a cell is slower than allowed, or breaks another limit (compare, ab)\n"
    "  2    incorrect result, crashed backend or suspected cheating, whatever else happened\n"
    "  3    noisy, mistrusted, unfinished, suspect or missing cells, with --strict;\n"
    "       or a required check that --no-verify left out; an inconclusive judge\n"
    "  4    wrong command line or scenario; nothing matched\n"
    "  5    the machine cannot do it: no memory, disk full, an old processor;\n"
    "       or results are not comparable\n"
    "  70   defect of attnbench\n"
    "  128+n  stopped by signal n, 141 by a closed pipe; run keeps what was measured\n";

/// In the order of --help.
constexpr AddCommand* kCommands[] = {
    add_run_command,      add_expand_command,    add_support_command,  add_select_command,
    add_list_command,     add_model_command,     add_accuracy_command, add_dump_command,
    add_profile_command,  add_judge_command,     add_compare_command,  add_ab_command,
    add_baseline_command, add_crossover_command, add_watch_command,    add_trace_command,
    add_selftest_command, add_merge_command,     add_report_command,   add_new_plugin_command,
    add_worker_command,   add_confined_command,  add_describe_command};

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

/// "; not with --base, --new" for "; not with " and these two; empty for none.
std::string beside(const char* how, const std::set<CLI::Option*>& others) {
  std::vector<std::string> names;
  for (const CLI::Option* other : others) names.push_back(other->get_name());
  std::ranges::sort(names);  // the set is ordered by addresses
  return names.empty() ? "" : how + fmt::format("{}", fmt::join(names, ", "));
}

/// How --help is laid out: a list of commands has one sentence for each, without its examples, and
/// on a terminal of `width` columns descriptions are broken between words. 0: no terminal, lines
/// are as long as they are, so that other programs read one option from one line.
class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::size_t width) : width_(std::min(width, kMostWidth)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    if (!option->get_option_text().empty()) return text;
    return text.substr(0, std::min(text.find(" Needs:"), text.find(" Excludes:")));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return CLI::Formatter::make_option_desc(option) + beside("; only with ", option->get_needs()) +
           beside("; not with ", option->get_excludes());
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

/// The message for a command line that CLI11 refused: what was found, the nearest word, what is
/// allowed there. `words` are those of the command line, without the program's name.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  const CLI::App& chosen = innermost(app);
  const std::vector<std::string> commands = commands_of(chosen);
  std::string text = commands.empty()
                         ? fmt::format("error: {}\n{}", error.what(), unknown_option(chosen, words))
                         : no_command(chosen, commands, app.remaining(true));
  return text + fmt::format("   see: {} --help\n", path_of(chosen));
}

/// The program as a shell in any folder finds it: by name on PATH, else by its whole path.
std::string program_of(const char* called) {
  const std::string word = called;
  return word.find('/') == std::string::npos ? word : lasting_path(word);
}

/// Trouble in environments, which the run of others did not end, is told after all else; a run has
/// told it itself.
int run_action(const Action& action, const KnownBackends& known, Console& console) {
  const int exit_code = action(known, console);
  if (known.troubles().empty() || exit_code != static_cast<int>(ExitCode::kOk)) return exit_code;
  for (const std::string& trouble : known.troubles()) {
    console.err << "error: " << printable(trouble) << '\n';
  }
  return static_cast<int>(ExitCode::kEnvironment);
}

int guarded(const Action& action, const Registry& registry, const PluginOptions& plugins,
            Console& console) {
  try {
    if (plugins.in_process) {
      const InProcess guard(console);
      return run_action(action, KnownBackends(registry, plugins), console);
    }
    return run_action(action, KnownBackends(registry, plugins), console);
  } catch (const ConfigError& error) {
    console.err << error.what();
    return static_cast<int>(ExitCode::kUsage);
  } catch (const EnvironmentError& error) {
    console.err << "error: " << printable(error.what()) << '\n';
    return static_cast<int>(ExitCode::kEnvironment);
  } catch (const std::bad_alloc&) {
    console.err << "error: out of memory\n";
    return static_cast<int>(ExitCode::kEnvironment);
  } catch (const std::exception& error) {
    console.err << "error: attnbench itself failed: " << printable(error.what())
                << "\n   this is a defect; please report it with the command line\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}

/// A command whose output could not be written has failed.
int after_output(int exit_code, Console& console) {
  console.out.flush();
  if (exit_code != static_cast<int>(ExitCode::kOk) || console.out) return exit_code;
  if (console.out_reader_is_gone && console.out_reader_is_gone()) return 128 + SIGPIPE;
  console.err << "error: cannot write standard output\n";
  return static_cast<int>(ExitCode::kEnvironment);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Registry& registry,
                     Console& console) {
  console.program = program_of(argv[0]);
  CLI::App app(kDescription, "attnbench");
  app.formatter(std::make_shared<HelpText>(console.out_width ? console.out_width() : 0));
  app.footer(kExitCodes);
  app.require_subcommand(1);
  app.set_version_flag("--version", "attnbench " ATTNBENCH_VERSION);
  Action action;
  for (AddCommand* const add : kCommands) add(app, action);
  PluginOptions plugins;
  plugins.describing.waiting = [&console](const std::string& note) {
    console.err << "note: " << printable(note) << std::endl;
  };
  add_plugin_options(app, plugins);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    console.out << app.help();
    return after_output(0, console);
  } catch (const CLI::CallForVersion& version) {
    console.out << version.what() << '\n';
    return after_output(0, console);
  } catch (const CLI::ParseError& error) {
    console.err << printable(usage_message(app, error, {argv + 1, argv + argc}));
    return static_cast<int>(ExitCode::kUsage);
  }
  return after_output(guarded(action, registry, plugins, console), console);
}

}  // namespace attnbench
