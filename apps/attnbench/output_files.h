// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/result/journal.h"
#include "lib/result/record.h"
#include "lib/result/sinks.h"

namespace attnbench {

enum class CsvFormat : std::uint8_t { kOwn, kAiconfigurator };

/// The files that a run was asked to write; "-" is standard output.
struct OutputOptions {
  std::string json, csv, markdown, junit, google_benchmark;
  std::vector<std::string> by_ending;
  CsvFormat csv_format = CsvFormat::kOwn;  ///< of those of `by_ending` that are .csv
  std::vector<JournalFile> resumed;  ///< of the run that this one goes on with; each counts once
};

void add_output_options(CLI::App& app, OutputOptions& options);

/// In the order of the options. Throws ConfigError when two would overwrite each other or one of
/// `inputs`, and EnvironmentError when one cannot be written: before a run, not after it.
[[nodiscard]] std::vector<OutputFile> checked_outputs(const OutputOptions& options,
                                                      const std::vector<std::string>& inputs);

/// Whether one of them is standard output, which then carries nothing else.
[[nodiscard]] bool use_standard_output(const std::vector<OutputFile>& outputs);

struct WrittenOutputs {
  bool complete = true;       ///< all were written
  std::string json_sha256{};  ///< of the JSON, if it is a file, as this program wrote it
};

/// Writes them all. When a file cannot be written, the results are not lost: the first failure
/// prints them as JSON instead.
[[nodiscard]] WrittenOutputs write_outputs(const RunResult& result,
                                           const std::vector<OutputFile>& outputs,
                                           Console& console);

}  // namespace attnbench
