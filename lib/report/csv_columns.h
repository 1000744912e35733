// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>

#include "lib/bench/record.h"

namespace attnbench {

/// One column of the CSV, both ways, so that writer and reader cannot drift apart.
struct CsvColumn {
  const char* name;
  std::function<std::string(const Record&)> write;
  std::function<void(Record&, const std::string&)> read;  ///< throws ConfigError on a bad value
};

inline constexpr std::size_t kCsvColumns = 106;
/// Those of the first version. Every file has them; one written before a later column was added
/// lacks that one, which reads as not measured.
inline constexpr std::size_t kFirstCsvColumns = 65;

/// In file order, which is part of the format: new columns join at the end.
[[nodiscard]] const std::array<CsvColumn, kCsvColumns>& csv_columns();

}  // namespace attnbench
