// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <csignal>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/help_text.h"
#include "apps/attnbench/in_process.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/lasting_path.h"
#include "lib/base/printable.h"

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
    "  2    incorrect result or crashed backend, whatever else happened\n"
    "  3    noisy, mistrusted, unfinished, suspect or missing cells, with --strict;\n"
    "       or a required check that --no-verify left out\n"
    "  4    wrong command line or scenario; nothing matched\n"
    "  5    the machine cannot do it: no memory, disk full, an old processor;\n"
    "       or results are not comparable\n"
    "  70   defect of attnbench\n"
    "  128+n  stopped by signal n, 141 by a closed pipe; run keeps what was measured\n";

/// In the order of --help.
constexpr AddCommand* kCommands[] = {
    add_run_command,       add_expand_command,     add_support_command,  add_select_command,
    add_list_command,      add_model_command,      add_accuracy_command, add_dump_command,
    add_profile_command,   add_compare_command,    add_ab_command,       add_baseline_command,
    add_crossover_command, add_watch_command,      add_selftest_command, add_merge_command,
    add_report_command,    add_new_plugin_command, add_worker_command,   add_describe_command};

/// The program as a shell in any folder finds it: by name on PATH, else by its whole path.
std::string program_of(const char* called) {
  const std::string word = called;
  return word.find('/') == std::string::npos ? word : lasting_path(word);
}

int guarded(const Action& action, const Registry& registry, const PluginOptions& plugins,
            Console& console) {
  try {
    if (plugins.in_process) {
      const InProcess guard(console);
      return action(KnownBackends(registry, plugins), console);
    }
    return action(KnownBackends(registry, plugins), console);
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
  app.formatter(help_text(console.out_width ? console.out_width() : 0));
  app.footer(kExitCodes);
  app.require_subcommand(1);
  app.set_version_flag("--version", "attnbench " ATTNBENCH_VERSION);
  Action action;
  for (AddCommand* const add : kCommands) add(app, action);
  PluginOptions plugins;
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
