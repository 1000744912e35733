// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"
#include "lib/backend/support.h"
#include "lib/batch/problem.h"

namespace attnbench {

/// Whether an engine could run the problem from a full CUDA graph of this backend: the level that
/// its largest step needs and the one that the backend claims, in the reason when it could not.
[[nodiscard]] Support supports_cuda_graph(const BackendInfo& info, const Problem& problem);

}  // namespace attnbench
