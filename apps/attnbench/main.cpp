// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>

#include "apps/attnbench/command.h"
#include "apps/attnbench/cpu_baseline.h"
#include "apps/attnbench/interrupt.h"
#include "backends/register.h"

int main(int argc, char** argv) {
  attnbench::require_baseline_cpu();
  attnbench::catch_interrupts();
  attnbench::Registry registry;
  attnbench::register_builtin_backends(registry);
  attnbench::Console console{std::cout, std::cerr, isatty(STDOUT_FILENO) == 1,
                             isatty(STDERR_FILENO) == 1};
  return attnbench::run_command_line(argc, argv, registry, console);
}
