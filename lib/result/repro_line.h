// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/registry.h"
#include "lib/result/record.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// The command that runs exactly this cell again. `entry` is of the record's backend.
[[nodiscard]] std::string repro_line(const Scenario& scenario, const Record& record,
                                     const Registry::Entry& entry = {});

}  // namespace attnbench
