// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "lib/result/record_fields.h"

namespace attnbench {

inline constexpr std::size_t kCsvColumns = kSchemaVersions.back().columns;
/// Those of the first version. Every file has them; one written before a later column was added
/// lacks that one, which reads as not measured.
inline constexpr std::size_t kFirstCsvColumns = 65;

/// In file order, which is part of the format: new columns join at the end.
[[nodiscard]] const std::array<const RecordField*, kCsvColumns>& csv_columns();

/// The shortest text that reads back as the same value; empty for what does not exist.
[[nodiscard]] std::string csv_text(const RecordField& column, const Record& record);
/// Throws ConfigError on a bad value.
void read_csv_text(const RecordField& column, Record& record, const std::string& text);

}  // namespace attnbench
