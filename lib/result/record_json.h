// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// A record as the JSON file has it; results/schema.json describes it.
[[nodiscard]] Json record_json(const Record& record);

/// What record_json() wrote. A number that is null was NaN or infinite and reads as NaN. A field
/// that is absent was not recorded: files hold the fields that attnbench knew when it wrote them.
/// Throws ConfigError with the path of a field that is unknown or no value of its kind, and of one
/// that is missing although it says which cell the record is of, or how that ended.
[[nodiscard]] Record record_from_json(const Json& json);

/// On one line. NaN and infinities, which JSON lacks, are null. A backend's message may hold
/// anything: bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_line(const Json& json);

}  // namespace attnbench
