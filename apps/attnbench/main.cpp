// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>

#include "apps/attnbench/command.h"
#include "backends/register.h"
#include "lib/base/cpu_baseline.h"
#include "lib/base/this_process.h"

int main(int argc, char** argv) {
  attnbench::require_baseline_cpu();
  attnbench::Registry registry;
  attnbench::register_builtin_backends(registry);
  attnbench::Console console{
      .out = std::cout,
      .err = std::cerr,
      .out_takes_escapes = attnbench::takes_escapes(STDOUT_FILENO),
      .err_takes_escapes = attnbench::takes_escapes(STDERR_FILENO),
      .out_width = [] { return attnbench::terminal_width(STDOUT_FILENO); },
      .err_width = [] { return attnbench::terminal_width(STDERR_FILENO); },
      .out_reader_is_gone = [] { return attnbench::reader_is_gone(STDOUT_FILENO); }};
  return attnbench::run_command_line(argc, argv, registry, console);
}
