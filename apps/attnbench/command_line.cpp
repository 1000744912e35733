// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"

namespace attnbench {
namespace {

constexpr const char* kDescription =
    "attnbench: which attention backend is right, and how fast, on your batches.\n\n"
    "  attnbench run scenarios/quickstart.yaml\n"
    "  attnbench expand scenarios/quickstart.yaml\n";

constexpr const char* kExitCodes =
    "exit codes:\n"
    "  0    ok\n"
    "  1    regression (of the gate)\n"
    "  2    incorrect result or crashed backend; dominates\n"
    "  3    noisy, mistrusted or unfinished cells, with --strict\n"
    "  4    wrong command line or scenario; nothing matched\n"
    "  5    the machine cannot do it: no memory, disk full, an old processor\n"
    "  70   defect of attnbench\n"
    "  128+n  stopped by signal n; what was measured is kept\n";

/// Everything a user may type at this point: subcommands and long options.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (!sub->get_group().empty()) words.push_back(sub->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error,
                const std::vector<std::string>& words, Console& console) {
  const CLI::App* chosen = &app;
  for (const CLI::App* sub : app.get_subcommands())
    chosen = sub;  // the parsed one, when it got so far
  console.err << "error: " << error.what() << '\n';
  const std::vector<std::string> known = known_words(*chosen);
  for (const std::string& word : words) {
    const std::string bare = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), bare) != known.end()) continue;
    const std::string nearest = nearest_name(bare, known);
    if (!nearest.empty() && (bare.starts_with("--") || chosen == &app)) {
      console.err << fmt::format("   did you mean '{}' instead of '{}'?\n", nearest, bare);
      break;
    }
  }
  console.err << fmt::format("   see: attnbench {}--help\n",
                             chosen == &app ? "" : chosen->get_name() + " ");
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Registry& registry,
                     Console& console) {
  CLI::App app(kDescription, "attnbench");
  app.footer(kExitCodes);
  app.require_subcommand(1);
  app.set_version_flag("--version", "attnbench " ATTNBENCH_VERSION);
  Action action;
  add_run_command(app, action);
  add_expand_command(app, action);
  add_support_command(app, action);
  add_list_command(app, action);
  add_dump_command(app, action);
  add_profile_command(app, action);
  add_selftest_command(app, action);
  add_worker_command(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    console.out << app.help();
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::CallForVersion& version) {
    console.out << version.what() << '\n';
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, {argv + 1, argv + argc}, console);
  }

  try {
    return action(registry, console);
  } catch (const ConfigError& error) {
    console.err << error.what();
    return static_cast<int>(ExitCode::kUsage);
  } catch (const EnvironmentError& error) {
    console.err << "error: " << error.what() << '\n';
    return static_cast<int>(ExitCode::kEnvironment);
  } catch (const std::bad_alloc&) {
    console.err << "error: out of memory\n";
    return static_cast<int>(ExitCode::kEnvironment);
  } catch (const std::exception& error) {
    console.err << "error: attnbench itself failed: " << error.what()
                << "\n   this is a defect; please report it with the command line\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace attnbench
