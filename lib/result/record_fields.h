// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "lib/result/field_access.h"
#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// A version of results/schema.json, with the columns that every CSV of it has at least.
struct SchemaVersion {
  const char* name;
  std::size_t columns;
};
/// The last one is written into every file. A field that joins raises the second part, and so does
/// a word that joins those of a field, which an earlier schema refuses; a change that breaks
/// readers raises the first.
inline constexpr std::array kSchemaVersions = {
    SchemaVersion{"1.1.0", 80},   SchemaVersion{"1.2.0", 89},   SchemaVersion{"1.3.0", 106},
    SchemaVersion{"1.4.0", 108},  SchemaVersion{"1.5.0", 110},  SchemaVersion{"1.6.0", 111},
    SchemaVersion{"1.7.0", 112},  SchemaVersion{"1.8.0", 112},  SchemaVersion{"1.9.0", 114},
    SchemaVersion{"1.10.0", 116}, SchemaVersion{"1.11.0", 117}, SchemaVersion{"1.12.0", 125},
    SchemaVersion{"1.13.0", 126}, SchemaVersion{"1.14.0", 134}, SchemaVersion{"1.15.0", 136},
    SchemaVersion{"1.16.0", 143}, SchemaVersion{"1.17.0", 145}, SchemaVersion{"1.18.0", 147}};

/// A figure or fact of a record. CSV, JSON, schema and the results page all follow from the list of
/// these: a field that is added there is in each of them.
struct RecordField {
  std::size_t place;   ///< of its column in the CSV, from 1, for all time; 0: JSON alone has it
  std::string path;    ///< in the JSON of a record: "time_us/median"
  std::string column;  ///< in the CSV
  std::string unit;    ///< empty for numbers without one and for what is no number
  FieldAccess access;
  std::string description;
  bool (*exists)(const Record&) =
      nullptr;  ///< whether it was measured; none: it always has a value
  const char* since =
      nullptr;  ///< version that brought it, where it has no column and joined later
};

/// An object within the JSON of a record: what is at paths below its own.
struct RecordGroup {
  std::string path;
  std::string description;
  bool (*exists)(const Record&) = nullptr;  ///< false: null, and so is every field in it
};

/// In the order of the JSON.
[[nodiscard]] const std::vector<RecordField>& record_fields();
[[nodiscard]] const std::vector<RecordGroup>& record_groups();

/// Those that `path` lies in, the outermost first.
[[nodiscard]] std::vector<const RecordGroup*> groups_around(const std::string& path);

/// The field's value as JSON has it; null where it does not exist. NaN and infinities are numbers
/// here, which become null when they are written.
[[nodiscard]] Json value_of(const RecordField& field, const Record& record);

}  // namespace attnbench
