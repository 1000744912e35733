// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/fixture/fixture.h"

namespace attnbench {

/// One build of a batch's index arrays (token-level kv_indptr and kv_indices, and the page table)
/// from req_to_token: by kernels in GPU memory, and by the host in its own. Medians; 0 where there
/// is no GPU.
struct IndexTiming {
  double device_us = 0;
  double host_us = 0;
};

/// Times the builds for the fixture's batch on the fixture's GPU, with the arrays in the cache as
/// when a step has just written them. Returns zeros on a CPU, for a step that reads no cache, and
/// where the GPU has no memory left for the arrays.
[[nodiscard]] IndexTiming time_index_builds(const Fixture& fixture, Device& device);

}  // namespace attnbench
