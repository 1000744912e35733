// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/bench/record.h"
#include "lib/device/device.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What engines would take for the case on this GPU (lib/backend/engine_rules).
[[nodiscard]] ChosenByEngines chosen_by_engines(const Case& c, const DeviceInfo& gpu);

}  // namespace attnbench
