// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Whether an engine could run the case from a full CUDA graph of this backend: the level that its
/// batch needs and the one that the backend claims, in the reason when it could not.
[[nodiscard]] Support supports_cuda_graph(const BackendInfo& info, const Case& c);

}  // namespace attnbench
