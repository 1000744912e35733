// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "lib/view/json.h"

namespace attnbench {

/// How many columns of the CSV files of schema `version` have: which fields of a record may be
/// missing. Throws EnvironmentError for a newer version, since nothing compares with what
/// cannot be read, and ConfigError for what is no version.
[[nodiscard]] std::size_t columns_of(const Json& version);

}  // namespace attnbench
