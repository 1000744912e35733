// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "lib/device/device.h"

namespace attnbench {

/// GPU memory between two guard zones of 4 KiB, poisoned with 0xFF. Filled and checked on `stream`,
/// done on return. Throws EnvironmentError with both figures when there is not enough.
[[nodiscard]] std::unique_ptr<Buffer> make_guarded_memory(std::size_t bytes, std::string_view what,
                                                          cudaStream_t stream);

/// Bytes that the current GPU can still give.
[[nodiscard]] std::size_t free_gpu_memory();

}  // namespace attnbench
