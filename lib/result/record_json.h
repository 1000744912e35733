// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// A record as the JSON file has it; results/schema.json describes it.
[[nodiscard]] Json record_json(const Record& record);

/// What record_json() wrote. A number that is null was NaN or infinite and reads as NaN. Fields
/// that joined after `columns` (SchemaVersion) may be missing. Throws ConfigError with the path of
/// a field that is missing, unknown, or no value of its kind.
[[nodiscard]] Record record_from_json(const Json& json, std::size_t columns);

/// On one line. NaN and infinities, which JSON lacks, are null. A backend's message may hold
/// anything: bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_line(const Json& json);

}  // namespace attnbench
