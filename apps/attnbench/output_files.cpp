// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/output_files.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <ostream>
#include <sstream>
#include <string_view>

#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/sha256.h"
#include "lib/result/aiconfigurator.h"
#include "lib/result/result_file.h"
#include "lib/result/sinks.h"
#include "lib/summary/markdown_sink.h"

namespace attnbench {
namespace {

constexpr const char* kStandardOutput = "-";

Sink sink_for(const std::string& path) {
  const auto ends = [&](std::string_view tail) { return path.ends_with(tail); };
  if (ends(".gbench.json")) return write_google_benchmark_json;
  if (ends(".json")) return write_json;
  if (ends(".csv")) return write_csv;
  if (ends(".md")) return write_markdown;
  if (ends(".xml")) return write_junit;
  throw ConfigError(fmt::format(
      "-o {}: the ending names the format: .json .csv .md .xml (JUnit) .gbench.json", path));
}

constexpr const char* kRowsOption = "--format aiconfigurator -o";

OutputFile rows_file(const std::string& path) {
  return {kRowsOption, path, write_aiconfigurator, left_out_of_aiconfigurator};
}

/// Those of -o, in their order.
std::vector<OutputFile> files_by_ending(const OutputOptions& options) {
  std::vector<OutputFile> files;
  bool are_rows = false;
  for (const std::string& path : options.by_ending) {
    const bool is_rows = options.csv_format == CsvFormat::kAiconfigurator && path.ends_with(".csv");
    files.push_back(is_rows ? rows_file(path) : OutputFile{"-o", path, sink_for(path)});
    are_rows = are_rows || is_rows;
  }
  if (options.csv_format == CsvFormat::kAiconfigurator && !are_rows) {
    throw ConfigError("--format aiconfigurator says how -o writes a .csv: -o FILE.csv is missing");
  }
  return files;
}

/// Of a file that an earlier run was asked for.
Sink sink_of(const std::string& option, const std::string& path) {
  if (option == "--json") return write_json;
  if (option == "--csv") return write_csv;
  if (option == "--markdown") return write_markdown;
  if (option == "--junit") return write_junit;
  return option == "--google-benchmark" ? write_google_benchmark_json : sink_for(path);
}

std::vector<OutputFile> outputs_of(const OutputOptions& options) {
  std::vector<OutputFile> outputs = {
      {"--json", options.json, write_json},
      {"--csv", options.csv, write_csv},
      {"--markdown", options.markdown, write_markdown},
      {"--junit", options.junit, write_junit},
      {"--google-benchmark", options.google_benchmark, write_google_benchmark_json}};
  std::erase_if(outputs, [](const OutputFile& output) { return output.path.empty(); });
  std::ranges::move(files_by_ending(options), std::back_inserter(outputs));
  for (const auto& [option, path] : options.resumed) {
    const auto is_it = [&](const OutputFile& output) { return same_file(output.path, path); };
    if (std::ranges::any_of(outputs, is_it)) continue;
    outputs.push_back(option == kRowsOption ? rows_file(path)
                                            : OutputFile{option, path, sink_of(option, path)});
  }
  return outputs;
}

}  // namespace

void add_output_options(CLI::App& app, OutputOptions& options) {
  const auto add = [&](const char* name, std::string& path, const char* what) {
    app.add_option(name, path, what)->type_name("FILE")->check(not_empty());
  };
  add("--json", options.json, "write results as JSON; '-' = standard output");
  add("--csv", options.csv, "write results as CSV (RFC 4180)");
  add("--markdown", options.markdown, "write the table as Markdown");
  add("--junit", options.junit, "write JUnit XML, one testcase per cell");
  add("--google-benchmark", options.google_benchmark,
      "write JSON that Google Benchmark's compare.py reads");
  app.add_option("-o,--output", options.by_ending,
                 "write a file in the format that its ending names: .json .csv .md .xml (JUnit) "
                 ".gbench.json; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(not_empty());
  const std::map<std::string, CsvFormat> formats{{"aiconfigurator", CsvFormat::kAiconfigurator}};
  app.add_option("--format", options.csv_format,
                 "write the .csv of -o in the schema of aiconfigurator's collectors")
      ->option_text("aiconfigurator")
      ->transform(words_of(formats));
}

std::vector<OutputFile> checked_outputs(const OutputOptions& options,
                                        const std::vector<std::string>& inputs) {
  std::vector<OutputFile> outputs = outputs_of(options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputFile& output = outputs[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_file(output.path, outputs[j].path)) continue;
      throw ConfigError(fmt::format("{} {} and {} {} would write the same file", outputs[j].option,
                                    outputs[j].path, output.option, output.path));
    }
    if (output.path == kStandardOutput) continue;
    for (const std::string& input : inputs) {
      if (!same_file(output.path, input)) continue;
      throw ConfigError(
          fmt::format("{} {} would overwrite the scenario", output.option, output.path));
    }
    expect_writable(output.path);
  }
  return outputs;
}

bool use_standard_output(const std::vector<OutputFile>& outputs) {
  return std::ranges::any_of(
      outputs, [](const OutputFile& output) { return output.path == kStandardOutput; });
}

WrittenOutputs write_outputs(const RunResult& result, const std::vector<OutputFile>& outputs,
                             Console& console) {
  WrittenOutputs written;
  for (const OutputFile& output : outputs) {
    try {
      if (output.write == write_json && output.path != kStandardOutput) {
        std::ostringstream text;
        write_json(result, text);
        write_result_file(output.path, console.out, [&](std::ostream& out) { out << text.view(); });
        written.json_sha256 = sha256_hex(text.view());
        continue;
      }
      write_result_file(output.path, console.out,
                        [&](std::ostream& out) { output.write(result, out); });
      const std::string left_out = output.left_out == nullptr ? "" : output.left_out(result);
      if (!left_out.empty()) {
        console.err << fmt::format("note: {}: {}\n", printable(output.path), printable(left_out));
      }
    } catch (const EnvironmentError& error) {
      console.err << "error: " << error.what() << '\n';
      if (written.complete && console.out) {
        console.err << "   the results follow as JSON on standard output\n";
        write_json(result, console.out);
      }
      written.complete = false;
    }
  }
  return written;
}

}  // namespace attnbench
