// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "lib/result/record_fields.h"

namespace attnbench {

inline constexpr std::size_t kCsvColumns = kSchemaVersions.back().columns;

/// In file order, which is part of the format: new columns join at the end.
[[nodiscard]] const std::array<const RecordField*, kCsvColumns>& csv_columns();

/// The shortest text that reads back as the same value; empty for what does not exist.
[[nodiscard]] std::string csv_text(const RecordField& column, const Record& record);

}  // namespace attnbench
