// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Writers of one record model (Record): they agree because none computes anything of its
/// own.

/// Machine formats: fixed units, every record, failed ones included. Schema: results/schema.json.
void write_json(const RunResult& run, std::ostream& out);
/// RFC 4180, stable columns, one row per record.
void write_csv(const RunResult& run, std::ostream& out);
/// One testcase per record; failures carry the repro line, unsupported cells are skipped ones.
void write_junit(const RunResult& run, std::ostream& out);
/// What Google Benchmark's compare.py reads.
void write_google_benchmark_json(const RunResult& run, std::ostream& out);

using Sink = void (*)(const RunResult&, std::ostream&);

/// A file that a run was asked to write; "-" is standard output.
struct OutputFile {
  std::string option;  ///< "--json", as messages name it
  std::string path;
  Sink write;
  /// What the format cannot hold of a run, for a person; none: it holds all.
  std::string (*left_out)(const RunResult&) = nullptr;
};

}  // namespace attnbench
