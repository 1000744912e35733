// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Reads what write_json() or a Journal wrote, by this or an earlier attnbench. The last line of a
/// journal may be cut off, as whatever ended the run left it. A record is held in memory once read,
/// the file is not. Throws EnvironmentError for a newer schema, and ConfigError with the file, and
/// the line or the record, where it cannot be opened and on anything that attnbench did not write:
/// a file that is cut off, edited by hand, or that holds a cell twice.
[[nodiscard]] RunResult read_results(const std::string& path);

}  // namespace attnbench
