// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/output_files.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/glob.h"
#include "lib/config/word_hints.h"
#include "lib/gate/compare.h"
#include "lib/page/page.h"
#include "lib/page/plots.h"
#include "lib/page/svg_plot.h"
#include "lib/result/result_file.h"
#include "lib/result/result_reader.h"

namespace attnbench {
namespace {

enum class Format : std::uint8_t { kHtml, kSvg, kPng };
enum class Plot : std::uint8_t { kRoofline, kLatency };

struct ReportCommand {
  std::vector<std::string> results;
  std::string output;
  std::optional<Format> format;
  std::optional<Plot> plot;
  std::vector<std::string> backends;  ///< names and globs; empty: all
  std::string base_backend, new_backend;
  bool trust_sequential = false;
  GateOptions gate;
};

Format format_of(const ReportCommand& command) {
  constexpr std::array<std::pair<std::string_view, Format>, 3> kEndings = {
      {{".html", Format::kHtml}, {".svg", Format::kSvg}, {".png", Format::kPng}}};
  if (command.format) return *command.format;
  for (const auto& [ending, format] : kEndings) {
    if (command.output.ends_with(ending)) return format;
  }
  if (command.output == "-") return Format::kHtml;
  throw ConfigError(
      fmt::format("-o {}: the ending names the format: .html .svg .png; or --format html|svg|png",
                  command.output));
}

/// Whether an option is given that only a comparison has.
bool judges(const ReportCommand& command) {
  const GateOptions& gate = command.gate;
  return !command.base_backend.empty() || !command.new_backend.empty() ||
         command.trust_sequential || !gate.policy.empty() || gate.min_roofline ||
         !gate.allow.empty();
}

/// Two backends of one file, or base and new file.
bool compares(const ReportCommand& command) {
  const bool base = !command.base_backend.empty(), now = !command.new_backend.empty();
  if (base != now) throw ConfigError("--base and --new come together: two backends of one file");
  if (base && command.results.size() != 1) {
    throw ConfigError(
        fmt::format("--base and --new compare two backends of one file, found {} files",
                    command.results.size()));
  }
  if (base || command.results.size() == 2) return true;
  if (judges(command)) {
    throw ConfigError(
        "--policy, --min-roofline, --allow and --trust-sequential judge a comparison: give two "
        "files, or one with --base NAME --new NAME");
  }
  return false;
}

GateReport comparison_of(const std::vector<NamedRun>& files, const ReportCommand& command) {
  const CompareOptions options{.policy = policy_of(command.gate),
                               .waivers = waivers_of(command.gate),
                               .trust_sequential = command.trust_sequential,
                               .today = today_utc()};
  if (files.size() == 1) {
    return compare_backends(files[0].run, command.base_backend, command.new_backend, options);
  }
  GateReport report = compare_runs(files[0].run, files[1].run, options);
  const std::vector<std::string> labels = file_labels(files);
  report.base = labels[0];
  report.now = labels[1];
  return report;
}

/// Leaves out what --backend does not name. A name that no file has is a mistake.
void keep_backends(const std::vector<std::string>& wanted, std::vector<NamedRun>& files) {
  if (wanted.empty()) return;
  std::set<std::string> known;
  for (const NamedRun& file : files) {
    for (const Record& record : file.run.records) known.insert(record.backend);
  }
  for (const std::string& pattern : wanted) {
    if (std::ranges::any_of(known, [&](const auto& name) { return glob_matches(pattern, name); })) {
      continue;
    }
    const std::vector<std::string> names(known.begin(), known.end());
    throw ConfigError(
        {Diagnostic{{},
                    1,
                    fmt::format("--backend {}: the results have no such backend", pattern),
                    allowed_words_hint(names, pattern, "backends: "),
                    {}}});
  }
  for (NamedRun& file : files) {
    std::erase_if(file.run.records, [&](const Record& record) {
      return std::ranges::none_of(wanted, [&](const std::string& pattern) {
        return glob_matches(pattern, record.backend);
      });
    });
  }
}

void write_plot(const ReportCommand& command, const std::vector<NamedRun>& files,
                std::ostream& out) {
  const bool latency = command.plot == Plot::kLatency;
  std::ostringstream svg;
  write_svg(latency ? latency_plot(files) : roofline_plot(files), svg);
  out << (format_of(command) == Format::kPng ? png_of_svg(svg.str()) : svg.str());
}

/// Throws before anything is read.
void check_options(const ReportCommand& command) {
  for (const std::string& path : command.results) {
    if (!same_file(path, command.output)) continue;
    throw ConfigError(fmt::format("-o {} would overwrite what is read", command.output));
  }
  const bool is_page = format_of(command) == Format::kHtml;
  if (is_page && command.plot) {
    throw ConfigError("--plot is of a single plot, .svg or .png; the page has all of them");
  }
  if (!is_page && judges(command)) {
    throw ConfigError("a single plot, .svg or .png, has no comparison: write a page, .html");
  }
  if (command.output != "-") expect_writable(command.output);
}

int report(const ReportCommand& command, Console& console) {
  check_options(command);
  const bool is_page = format_of(command) == Format::kHtml;
  const bool comparison = is_page && compares(command);
  PageContent content;
  for (const std::string& path : command.results) {
    content.files.push_back({path, read_results(path)});
  }
  keep_backends(command.backends, content.files);
  if (comparison) content.comparison = comparison_of(content.files, command);
  write_result_file(command.output, console.out, [&](std::ostream& out) {
    if (is_page) {
      write_page(content, out);
    } else {
      write_plot(command, content.files, out);
    }
  });
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<ReportCommand>();
  CLI::App* report_app = app.add_subcommand(
      "report",
      "Write results as one HTML page that needs nothing else: roofline, latency by length, a "
      "table that sorts and filters, errors, support, environment. Of two files, or two backends "
      "of one, it has the verdicts of `attnbench compare`.\n\n"
      "  attnbench report r.json -o report.html\n"
      "  attnbench report main.json branch.json -o report.html\n"
      "  attnbench report r.json --base paged_fa --new splitkv -o report.html\n"
      "  attnbench report r.json --plot latency -o latency.svg\n");
  report_app
      ->add_option("results", command->results,
                   "JSON of `attnbench run --json`, or journals; two are base and new")
      ->required();
  report_app
      ->add_option("-o,--output", command->output,
                   "the page, or a single plot: .html .svg .png; '-' = the page to standard output")
      ->required()
      ->option_text("FILE")
      ->check(not_empty());
  const std::map<std::string, Format> formats{
      {"html", Format::kHtml}, {"svg", Format::kSvg}, {"png", Format::kPng}};
  report_app->add_option("--format", command->format, "where the ending does not name it")
      ->option_text("html|svg|png")
      ->transform(words_of(formats));
  const std::map<std::string, Plot> plots{{"roofline", Plot::kRoofline},
                                          {"latency", Plot::kLatency}};
  report_app->add_option("--plot", command->plot, "which one, as .svg or .png (default: roofline)")
      ->option_text("roofline|latency")
      ->transform(words_of(plots));
  report_app
      ->add_option("--backend", command->backends,
                   "only these backends; * and ? match; all if not given")
      ->option_text("NAME,...")
      ->delimiter(',')
      ->check(not_empty());
  report_app->add_option("--base", command->base_backend, "a backend of the one result")
      ->option_text("NAME");
  report_app->add_option("--new", command->new_backend, "the backend to compare with it")
      ->option_text("NAME");
  report_app->add_flag("--trust-sequential", command->trust_sequential,
                       "let two runs on one machine decide: REGRESSED instead of SUSPECT");
  declare_limit_options(*report_app, command->gate);
  report_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return report(*command, console);
    };
  });
}

}  // namespace attnbench
