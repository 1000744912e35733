// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench {

/// Chunked local attention as engines give it to `kernels` without chunks: plan() cuts each request
/// into virtual ones, each within one chunk and plainly causal, builds their page table
/// (lib/index/local_attention.h) and hands the step to the kernels. The backend,
/// "paged_fa:virtual_batches", takes part only where it is named.
[[nodiscard]] std::unique_ptr<Backend> with_virtual_batches(std::unique_ptr<Backend> kernels);

}  // namespace attnbench
