// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/shell_text.h"
#include "lib/base/system.h"
#include "lib/cost/cost.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/profile/ncu_csv.h"
#include "lib/profile/profiled_forward.h"
#include "lib/profile/profiler_line.h"
#include "lib/run/run_plan.h"
#include "lib/scenario/case.h"
#include "lib/view/table.h"

namespace attnbench {
namespace {

#ifdef ATTNBENCH_HAVE_CUDA
constexpr bool kBuiltForGpus = true;
#else
constexpr bool kBuiltForGpus = false;
#endif

struct ProfileOptions {
  std::string scenario, case_id, backend;
  std::string output = "attnbench";
  std::string set = "full";
  std::string summarize;
  std::string tool = "ncu", cache = "cold";

  [[nodiscard]] ProfilerTool profiler() const {
    return tool == "ncu" ? ProfilerTool::kNcu : ProfilerTool::kNsys;
  }
  std::optional<std::uint64_t> seed;
  int device = 0;
  bool exec = false, window = false;
};

const Case& the_case(const Scenario& scenario, const ProfileOptions& options) {
  const auto cases = select_cases(
      scenario, {.cases = {options.case_id.empty() ? std::string("*") : options.case_id}});
  if (cases.size() == 1) {
    refuse_composed(*cases.front(), "profile");
    return *cases.front();
  }
  if (options.case_id.empty()) {
    throw ConfigError(
        fmt::format("{} has {} cases, a profile takes one: --case ID (attnbench list "
                    "cases {})",
                    options.scenario, cases.size(), options.scenario));
  }
  throw ConfigError(
      fmt::format("--case {}: {} cases match, a profile takes one", options.case_id, cases.size()));
}

const Registry::Entry& the_backend(const Registry& registry, const ProfileOptions& options) {
  const Scenario any{};
  const Registry::Entry& entry =
      *choose_backends(any, registry, {.backends = {options.backend}})[0];
  if (entry.info.device == DeviceKind::kCpu) {
    throw ConfigError(
        fmt::format("{} runs on the CPU; {} shows what a GPU does", options.backend, options.tool));
  }
  return entry;
}

const Registry::Entry& the_present_backend(const Registry& registry,
                                           const ProfileOptions& options) {
  const Registry::Entry& entry = the_backend(registry, options);
  if (entry.make) return entry;
  throw EnvironmentError(fmt::format("{} cannot run here: {}", options.backend, entry.absence));
}

void run_window(const ProfileOptions& options, const KnownBackends& known) {
  const Scenario scenario = read_scenario(options.scenario, options.seed);
  const Case& c = the_case(scenario, options);
  const Registry registry = known.with_those_of(scenario, {options.backend});
  const Registry::Entry& entry = the_present_backend(registry, options);
  const std::unique_ptr<Device> device = make_cuda_device(options.device);
  const CacheState cache = *std::ranges::find(kCacheStates, options.cache,
                                              [](CacheState each) { return to_string(each); });
  run_profiled_forward(entry, c, *device, cache,
                       fmt::format("{}/{}/{}", scenario.name, c.id, options.backend));
}

std::vector<std::string> inner_command(const ProfileOptions& options, const std::string& case_id,
                                       const Registry::Entry& entry) {
  // The line works from any folder; a word that is no file is an installed scenario's name.
  std::error_code none;
  const std::string scenario = std::filesystem::exists(options.scenario, none)
                                   ? lasting_path(options.scenario)
                                   : options.scenario;
  std::vector<std::string> words = {self_path(),   "profile",   scenario,        "--case",
                                    case_id,       "--backend", options.backend, "--cache",
                                    options.cache, "--window"};
  if (!entry.plugin.empty()) words.insert(words.end(), {"--plugin", entry.plugin});
  // That process is there to be looked at, and for nothing else.
  if (!entry.plugin.empty() && !entry.plugin.ends_with(".py")) words.emplace_back("--in-process");
  if (options.seed) words.insert(words.end(), {"--seed", std::to_string(*options.seed)});
  if (options.device != 0) words.insert(words.end(), {"--device", std::to_string(options.device)});
  return words;
}

/// Replaces this process by the profiler, so that exit code and signals are the profiler's.
[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv.front(), argv.data());
  throw EnvironmentError(
      fmt::format("{}: cannot be started: {}", words.front(), std::strerror(errno)));
}

void print_or_start(const ProfileOptions& options, const KnownBackends& known, Console& console) {
  // Mistakes of the user are found here, before a profiler starts.
  const Scenario scenario = read_scenario(options.scenario, options.seed);
  const std::string case_id = the_case(scenario, options).id;
  const Registry registry = known.with_those_of(scenario, {options.backend});
  // Another machine may have the GPU, and this build's line is for it as well.
  const Registry::Entry& entry =
      (options.exec || !kBuiltForGpus ? the_present_backend : the_backend)(registry, options);

  const ProfilerSearch search = find_profiler(options.profiler(), environment_list("PATH"));
  const auto words =
      profiler_line(options.profiler(), search.path.empty() ? options.tool : search.path,
                    options.output, options.set, inner_command(options, case_id, entry));
  if (search.path.empty()) {
    console.err << fmt::format("{} was not found; looked in {}\n", options.tool,
                               fmt::join(search.looked, " "));
    if (options.exec) throw EnvironmentError(options.tool + " is not installed");
  }
  if (options.exec) become(words);
  console.out << shell_text(words) << '\n';
  if (options.profiler() == ProfilerTool::kNcu) {
    const std::string report = options.output + ".ncu-rep", csv = options.output + ".csv";
    console.out << shell_text({search.path.empty() ? options.tool : search.path, "--import", report,
                               "--csv", "--page", "raw"})
                << " > " << shell_text({csv}) << '\n'
                << shell_text({"attnbench", "profile", options.scenario, "--case", case_id,
                               "--backend", options.backend, "--summarize", csv})
                << '\n';
  }
}

void summarize(const ProfileOptions& options, Console& console) {
  const Scenario scenario = read_scenario(options.scenario, options.seed);
  const Case& c = the_case(scenario, options);
  const Cost cost = count_cost(c);
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"kernel", kLeft, 0, 48, 48},
                          {"time µs", kRight, 1, 9},
                          {"DRAM read MB", kRight, 1, 13},
                          {"DRAM write MB", kRight, 1},
                          {"L2 hit", kRight, 1, 7}}};
  NcuKernel sum;
  for (const NcuKernel& kernel : read_ncu_csv(options.summarize)) {
    table.rows.push_back({{kernel.name, fmt::format("{:.1f}", kernel.time_us),
                           fmt::format("{:.3f}", kernel.dram_read_bytes / 1e6),
                           fmt::format("{:.3f}", kernel.dram_write_bytes / 1e6),
                           fmt::format("{:.1f}%", kernel.l2_hit_rate * 100)}});
    sum.time_us += kernel.time_us;
    sum.dram_read_bytes += kernel.dram_read_bytes;
    sum.dram_write_bytes += kernel.dram_write_bytes;
  }
  console.out << fmt::format("{}   {}\n", c.id, options.backend) << terminal_text(table);
  const auto counted = static_cast<double>(cost.bytes_unique);
  console.out << fmt::format(
      "{} kernels, {:.1f} µs; DRAM read {:.3f} MB + written {:.3f} MB; counted {:.3f} MB (each "
      "byte "
      "once)\nmeasured read / counted = {:.3f}\n",
      table.rows.size(), sum.time_us, sum.dram_read_bytes / 1e6, sum.dram_write_bytes / 1e6,
      counted / 1e6, counted > 0 ? sum.dram_read_bytes / counted : 0.0);
}

}  // namespace

void add_profile_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* profile = app.add_subcommand(
      "profile",
      "Print (or with --exec start) the profiler's exact line for one cell: one forward between "
      "cudaProfilerStart and Stop.\n\n"
      "  attnbench profile scenarios/decode.yaml --case even --backend splitkv --tool ncu\n"
      "  attnbench profile scenarios/decode.yaml --case even --backend splitkv --summarize "
      "x.csv\n");
  profile->add_option("scenario", options->scenario, kScenarioHelp)->required();
  profile->add_option("--case", options->case_id,
                      "the case id; * and ? match; a file with one case needs none");
  profile->add_option("--backend", options->backend, "the backend")->required();
  profile->add_option("--tool", options->tool, "ncu or nsys")
      ->check(CLI::IsMember({"ncu", "nsys"}))
      ->capture_default_str();
  profile->add_option("--set", options->set, "ncu's section set: full, detailed, roofline, basic")
      ->capture_default_str();
  profile->add_option("--cache", options->cache, "cold, warm or serving")
      ->check(CLI::IsMember({"cold", "warm", "serving"}))
      ->capture_default_str();
  profile->add_option("-o,--output", options->output, "report file, without its ending")
      ->capture_default_str();
  add_seed_option(*profile, options->seed);
  profile->add_option("--device", options->device, "GPU number")
      ->transform(whole_number("device", 0, 1023))
      ->type_name("N");
  profile->add_flag("--exec", options->exec, "start the profiler instead of printing its line");
  profile->add_flag("--window", options->window, "the inner command: one forward, to be profiled");
  profile->add_option("--summarize", options->summarize,
                      "read ncu's raw CSV page: measured DRAM bytes beside the counted ones");
  profile->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      if (options->window) {
        run_window(*options, known);
      } else if (!options->summarize.empty()) {
        summarize(*options, console);
      } else {
        print_or_start(*options, known, console);
      }
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace attnbench
