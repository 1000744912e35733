// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/result/field_access.h"
#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// Of results/schema.json, written into every file. A field that joins raises the second part, and
/// so does a word that joins those of a field; a change that breaks readers raises the first.
inline constexpr const char* kSchemaVersion = "1.0.0";

/// A figure or fact of a record. CSV, JSON, schema and the results page all follow from the list of
/// these: a field that is added there is in each of them.
struct RecordField {
  std::string path;    ///< in the JSON of a record: "time_us/median"
  std::string column;  ///< in the CSV; empty: only the JSON has it
  std::string unit;    ///< empty for numbers without one and for what is no number
  FieldAccess access;
  std::string description;
  /// Whether it was measured; none: it always has a value.
  std::function<bool(const Record&)> exists = nullptr;
};

/// An object within the JSON of a record: what is at paths below its own.
struct RecordGroup {
  std::string path;
  std::string description;
  std::function<bool(const Record&)> exists = nullptr;  ///< false: null, and so are its fields
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
