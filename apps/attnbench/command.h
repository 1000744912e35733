// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

#include "lib/backend/registry.h"

// Only names of CLI11's classes, for all headers: CLI/CLI.hpp takes seconds to compile.
namespace CLI {
class App;
class ParseError;
}  // namespace CLI

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

/// Declares a command and its options on the program, and sets the action when it is the one
/// chosen.
using AddCommand = void(CLI::App& program, Action& action);

// A file cmd_NAME.cpp for each; command_line.cpp has their order.
AddCommand add_ab_command, add_accuracy_command, add_baseline_command, add_compare_command,
    add_confined_command, add_crossover_command, add_describe_command, add_dump_command,
    add_expand_command, add_judge_command, add_list_command, add_merge_command, add_model_command,
    add_new_plugin_command, add_profile_command, add_report_command, add_run_command,
    add_select_command, add_selftest_command, add_support_command, add_trace_command,
    add_watch_command, add_worker_command;

/// Parses the command line, runs the command, maps every failure to its exit code and one clear
/// message.
[[nodiscard]] int run_command_line(int argc, const char* const* argv, const Registry& registry,
                                   Console& console);

}  // namespace attnbench
