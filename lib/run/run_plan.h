// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lib/run/driver.h"

namespace attnbench {

/// The backends of a run: those the filter names, else those the scenario names, else every one
/// that is present and no variant (BackendInfo::by_default). Absent ones and variants are among
/// them only when asked for by name, by their file or by a glob with * and ?: 'splitkv:splits=*'
/// means every value of a tuning parameter.
///
/// Where nobody names any and one of them runs on a GPU, the program's own backends for the
/// processor only stand in (host_stands_in()): they are among the result only if a case needs one.
/// Throws ConfigError with the nearest name and the list when a name is unknown.
[[nodiscard]] std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                                  const Registry& registry,
                                                                  const RunFilter& filter);

/// The program's own backends for the processor, where they run only what no backend of the GPU
/// supports; none where backends are named, or no GPU takes part.
[[nodiscard]] std::vector<const Registry::Entry*> host_stands_in(const Scenario& scenario,
                                                                 const Registry& registry,
                                                                 const RunFilter& filter);

/// Those of `chosen` that take part in `c`; `chosen` may hold the second ones of A/A pairs.
/// `host_only_stands_in`: whether host_stands_in() found any.
[[nodiscard]] std::vector<const Registry::Entry*> backends_of(
    const Case& c, std::span<const Registry::Entry* const> chosen, bool host_only_stands_in);

}  // namespace attnbench
