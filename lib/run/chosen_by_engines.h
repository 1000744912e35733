// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/device/device.h"
#include "lib/result/record.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What engines would take for the case on this GPU (lib/engines).
[[nodiscard]] ChosenByEngines chosen_by_engines(const Case& c, const DeviceInfo& gpu);

}  // namespace attnbench
