// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/result/record.h"
#include "lib/result/record_fields.h"

namespace attnbench {

/// In file order, which is part of the format: new columns join at the end.
[[nodiscard]] const std::vector<const RecordField*>& csv_columns();

/// The shortest text that reads back as the same value; empty for what does not exist.
[[nodiscard]] std::string csv_text(const RecordField& column, const Record& record);

/// A field of a CSV with the quotes that RFC 4180 asks for. A line break inside it, which RFC 4180
/// allows, becomes a space: readers that go line by line would end the row there.
[[nodiscard]] std::string csv_quoted(std::string text);

/// Columns that a CSV has behind those of every file, with plain numbers for a plot: the values of
/// the sweep ("sweep:batch[0].kv_len", 8192 of "8k"), and the mean lengths of each entry of the
/// batch ("q_len:chat", "kv_len:chat", tokens of a request). All follow from other fields, so
/// nobody reads them back.
[[nodiscard]] std::vector<std::string> added_columns(const RunResult& run);
/// Empty where the record has no such number.
[[nodiscard]] std::string added_text(const std::string& column, const Record& record);

/// The swept values that are numbers, sizes with their suffix among them.
[[nodiscard]] std::vector<std::pair<std::string, double>> swept_numbers(const Record& record);

}  // namespace attnbench
