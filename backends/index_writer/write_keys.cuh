// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "lib/batch/index_write.h"

namespace attnbench::index_writer {

/// Enqueues the write; `in_bf16`: a row of the cache is the key itself.
void enqueue_write(const IndexWrite& write, bool in_bf16, cudaStream_t stream);

}  // namespace attnbench::index_writer
