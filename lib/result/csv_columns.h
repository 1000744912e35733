// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record_fields.h"

namespace attnbench {

/// In file order, which is part of the format: new columns join at the end.
[[nodiscard]] const std::vector<const RecordField*>& csv_columns();

/// The shortest text that reads back as the same value; empty for what does not exist.
[[nodiscard]] std::string csv_text(const RecordField& column, const Record& record);

}  // namespace attnbench
