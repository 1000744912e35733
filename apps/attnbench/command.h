// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

#include "apps/attnbench/cli_fwd.h"
#include "lib/backend/registry.h"

namespace attnbench {

class KnownBackends;

/// Where a command writes: results to `out`, everything else to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_takes_escapes = false;
  bool err_takes_escapes = false;
  /// Columns now, 0 where there is no terminal; empty: none.
  std::function<std::size_t()> out_width{}, err_width{};
  /// Whether a failure of `out` means that its reader went away; empty: no.
  std::function<bool()> out_reader_is_gone{};
  std::string program = "attnbench";  ///< as a shell in any folder finds it again
};

/// What a subcommand's parse leaves behind: the call that does the work and returns the exit code.
using Action = std::function<int(const KnownBackends&, Console&)>;

// One file per subcommand. Each declares its options on `app` and sets `action` when it is the one
// chosen.
void add_run_command(CLI::App& app, Action& action);
void add_expand_command(CLI::App& app, Action& action);
void add_dump_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_support_command(CLI::App& app, Action& action);
void add_model_command(CLI::App& app, Action& action);
void add_accuracy_command(CLI::App& app, Action& action);
void add_select_command(CLI::App& app, Action& action);
void add_profile_command(CLI::App& app, Action& action);
void add_ab_command(CLI::App& app, Action& action);
void add_baseline_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_selftest_command(CLI::App& app, Action& action);
void add_merge_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_new_plugin_command(CLI::App& app, Action& action);
void add_crossover_command(CLI::App& app, Action& action);
void add_watch_command(CLI::App& app, Action& action);
void add_worker_command(CLI::App& app, Action& action);
void add_describe_command(CLI::App& app, Action& action);

/// Parses the command line, runs the command, maps every failure to its exit code and one clear
/// message.
[[nodiscard]] int run_command_line(int argc, const char* const* argv, const Registry& registry,
                                   Console& console);

}  // namespace attnbench
