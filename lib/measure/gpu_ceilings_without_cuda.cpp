// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"
#include "lib/measure/gpu_ceilings.h"

namespace attnbench {

Ceilings measure_gpu_ceilings(Device&) { throw InternalError("a GPU in a build without nvcc"); }

}  // namespace attnbench
