// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/result/record_fields.h"
#include "lib/view/field.h"

namespace attnbench {

/// The fields of a struct that a record holds, below `prefix`.
template <auto kMember, class S>
void add_rows(std::vector<RecordField>& rows, const std::string& prefix,
              const std::vector<Field<S>>& fields, bool (*has_struct)(const Record&) = nullptr) {
  for (const Field<S>& field : fields) {
    if (!field.in_results) continue;
    const std::string& column = field.column.empty() ? field.name : field.column;
    const bool is_nested = field.name.find('/') != std::string::npos;
    RecordField row{prefix + (is_nested ? column : field.name), column, "",
                    inside<kMember>(field.access),
                    field.says + (field.none.empty() ? "" : "; null: " + field.none)};
    if (!field.none.empty() || field.exists != nullptr) {
      row.exists = [field, has_struct](const Record& r) {
        return (has_struct == nullptr || has_struct(r)) && field.has(r.*kMember);
      };
    } else if (has_struct != nullptr) {
      row.exists = has_struct;
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace attnbench
