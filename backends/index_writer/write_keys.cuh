// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "lib/batch/index_write.h"

namespace attnbench::index_writer {

/// Enqueues the write.
void enqueue_write(const IndexWrite& write, cudaStream_t stream);

}  // namespace attnbench::index_writer
