// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// One side of a comparison within a run: a backend, or with a star several, "v22/*".
struct BackendSide {
  std::string backend;
  std::string as;  ///< the name that its records get; with a star where `backend` has one
};

/// The records of the side and of their A/A twins, under the new names. Throws ConfigError naming
/// the nearest backend where the run has none of that name, and where only one name has a star, or
/// one has several.
[[nodiscard]] RunResult records_of(const BackendSide& side, const RunResult& run);

}  // namespace attnbench
