// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

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

}  // namespace attnbench
