// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/find_wgmma_kernel.cuh"

namespace attnbench::paged_fa {

template HopperKernel find_hopper_kernel<__half>(const Kernel&);

}  // namespace attnbench::paged_fa
