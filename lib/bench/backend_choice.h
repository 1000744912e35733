// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/bench/driver.h"

namespace attnbench {

/// The backends of a run: those the filter names, else those the scenario names, else every one
/// that is present and no variant (BackendInfo::by_default). Absent ones and variants are among
/// them only when asked for by name or by their file. Throws ConfigError with the nearest name and
/// the list when a name is unknown.
[[nodiscard]] std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                                  const Registry& registry,
                                                                  const RunFilter& filter);

}  // namespace attnbench
