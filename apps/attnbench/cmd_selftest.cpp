// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/exit_code.h"
#include "lib/inspect/selftest_report.h"

namespace attnbench {
namespace {

struct SelftestOptions {
  std::string device;  ///< "cpu", "cuda"; empty: every device that is available
  std::string format = "table";
  bool reasons = false;
};

int selftest(const SelftestOptions& options, Console& console) {
  const bool table = options.format == "table";
  std::vector<DeviceSelftest> parts;
  for (const std::string device : {"cpu", "cuda"}) {
    if (!options.device.empty() && options.device != device) continue;
    parts.push_back(run_selftest_on(device, !options.device.empty()));
    if (!table) continue;
    if (parts.size() == 1) write_selftest_legend(console.out);
    write_selftest_table(parts.back(), options.reasons, console.out);
    console.out.flush();  // stands even if the next device fails
  }
  const bool sound = std::ranges::all_of(parts, &DeviceSelftest::sound);
  if (!table) write_selftest_json(parts, console.out);
  return static_cast<int>(sound ? ExitCode::kOk : ExitCode::kInternal);
}

}  // namespace

void add_selftest_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SelftestOptions>();
  CLI::App* command = app.add_subcommand(
      "selftest",
      "Prove that the checks can fail. Faults are planted, one after the other, into a simple "
      "correct "
      "backend - on the CPU and, as a CUDA kernel, on the GPU - and a table shows which data set "
      "finds which fault; then backends run that are wrong in their timed launches alone. Exit "
      "code "
      "70 if a fault is not found or the correct backend is blamed.\n\n"
      "  attnbench selftest --reasons\n"
      "  attnbench selftest --device cpu --format json\n");
  command
      ->add_option("--device", options->device,
                   "cpu or cuda (GPU 0); both if not given, as far as there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add_format_option(*command, options->format);
  command->add_flag("--reasons", options->reasons,
                    "below each fault, what the first fill that catches it says");
  command->callback([options, &action] {
    action = [options](const KnownBackends&, Console& console) {
      return selftest(*options, console);
    };
  });
}

}  // namespace attnbench
