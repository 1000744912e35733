// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/measure/measure.h"

namespace attnbench {

/// measure_ceilings() of a GPU. Reads and copies pass over 2 GiB; the multiply-adds are bf16 with
/// f32 sums in registers, by wgmma on sm_90 and by mma.sync elsewhere.
[[nodiscard]] Ceilings measure_gpu_ceilings(Device& device);

}  // namespace attnbench
