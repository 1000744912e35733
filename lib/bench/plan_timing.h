// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/measure/measure.h"

namespace attnbench {

/// What a backend makes the host do once a step.
struct PlanTiming {
  HostTiming plan;    ///< Backend::plan()
  HostTiming update;  ///< Plan::update(): a recorded plan takes on the next step; 0: not measured
};

}  // namespace attnbench
