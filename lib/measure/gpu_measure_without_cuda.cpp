// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"
#include "lib/measure/ceilings.h"
#include "lib/measure/measure.h"

namespace attnbench {

void check_timer(Device&) {}  // no device here has a timer of its own

Ceilings measure_gpu_ceilings(Device&) { throw InternalError("a GPU in a build without nvcc"); }

}  // namespace attnbench
