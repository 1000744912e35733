// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/ab/ab_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "apps/ab/ab_pairs.h"
#include "lib/backend/python_environment.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/this_process.h"
#include "lib/gate/version_search.h"
#include "lib/result/result_file.h"

namespace attnbench {
namespace {

/// A version as the name of an environment: 1.0+cu13 and 2!1.0 have characters that names lack.
std::string name_of(std::string version) {
  std::ranges::replace_if(
      version, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return version;
}

/// Installs versions and compares them.
class PackageProbe {
 public:
  PackageProbe(const PackageOptions& options, std::vector<std::string> versions,
               const AbPrograms& programs, const AbConfig& config,
               std::chrono::duration<double> process_limit, Console& console)
      : source_(options.source),
        versions_(std::move(versions)),
        programs_(programs),
        config_(config),
        process_limit_(process_limit),
        console_(console) {}

  std::string install(std::size_t version) {
    if (pythons_.contains(version)) return {};
    if (console_.err_takes_escapes) {
      console_.err << fmt::format("\r\x1b[2Kinstalling {} {}", source_.package, versions_[version])
                   << std::flush;
    }
    PackageEnvironment environment = environment_with(source_, versions_[version]);
    if (console_.err_takes_escapes) console_.err << "\r\x1b[2K" << std::flush;
    if (environment.absent.empty()) {
      pythons_[version] = to_string({name_of(versions_[version]), environment.python});
    }
    return environment.absent;
  }

  GateReport compare(std::size_t base, std::size_t now, const std::vector<CellKey>& cells,
                     bool with_times) {
    programs_.base_python = pythons_.at(base);
    programs_.new_python = pythons_.at(now);
    AbConfig config = config_;
    config.cells = cells;
    if (!with_times) {
      config.pairs = 1;
      config.repeat_pairs = 0;
    }
    try {
      return measured_pairs(programs_, config, process_limit_,
                            fmt::format("{} → {}", versions_[base], versions_[now]), console_);
    } catch (const ConfigError& error) {
      if (cells.empty()) throw;
      // A version between the ends for which the command line is wrong tells nothing of the cells.
      GateReport report;
      report.remarks.push_back(error.diagnostics().front().message);
      return report;
    }
  }

 private:
  const PackageSource& source_;
  std::vector<std::string> versions_;
  AbPrograms programs_;
  const AbConfig& config_;
  std::chrono::duration<double> process_limit_;
  Console& console_;
  std::map<std::size_t, std::string> pythons_;  ///< as --python takes them
};

int exit_code_of(const VersionSearch& search, bool strict, int signal) {
  const ExitCode verdict = exit_code_of(search.ends, strict);
  if (verdict != ExitCode::kIncorrect) {  // which it is however far the search came
    if (signal != 0) return 128 + signal;
    if (!search.trouble.empty()) return static_cast<int>(ExitCode::kEnvironment);
  }
  return static_cast<int>(verdict);
}

}  // namespace

int ab_package(PackageOptions options, const AbPrograms& programs, const AbConfig& config,
               std::chrono::duration<double> process_limit, const GateOptions& gate,
               Console& console) {
  const std::string& package = options.source.package;
  VersionSearch search{
      .package = package,
      .versions = versions_in(options.range, released_versions(options.source), package)};
  const auto stop = [] { return interrupt_signal() != 0; };
  options.source.stop_requested = stop;
  catch_interrupts();
  PackageProbe probe(options, search.versions, programs, config, process_limit, console);
  search_versions(
      {.install = [&](std::size_t version) { return probe.install(version); },
       .compare = [&](std::size_t base, std::size_t now, const std::vector<CellKey>& cells,
                      bool with_times) { return probe.compare(base, now, cells, with_times); },
       .stop_requested = stop},
      search);
  const int exit_code = exit_code_of(search, gate.strict, interrupt_signal());
  if (!gate.json.empty()) {
    write_result_file(gate.json, console.out,
                      [&](std::ostream& out) { write_versions_json(search, exit_code, out); });
  }
  const PlainOutput plain = plain_output(gate.json == "-", console);
  write_versions_terminal(search, plain.options, exit_code, plain.out);
  if (!search.trouble.empty()) console.err << "error: " << search.trouble << '\n';
  if (exit_code == static_cast<int>(ExitCode::kUsage)) console.err << kNothingMatched;
  return exit_code;
}

}  // namespace attnbench
