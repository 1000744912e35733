// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/device/device.h"
#include "lib/result/record.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What engines would take for the case on this GPU (lib/engines); `deterministic`: of servers that
/// are started for it.
[[nodiscard]] ChosenByEngines chosen_by_engines(const Case& c, const DeviceInfo& gpu,
                                                bool deterministic = false);

}  // namespace attnbench
