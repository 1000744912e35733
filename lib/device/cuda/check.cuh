// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "lib/device/cuda/cuda_error.h"

namespace attnbench {

/// Throws CudaError, naming `call`, unless `status` is cudaSuccess.
inline void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  // Clears a non-sticky error of the runtime, which the next launch check would report otherwise.
  static_cast<void>(cudaGetLastError());
  throw CudaError(call, cudaGetErrorName(status), cudaGetErrorString(status));
}

/// Throws CudaError when the kernel launched last, named `kernel`, could not be launched.
inline void check_launch(const char* kernel) { check_cuda(cudaGetLastError(), kernel); }

}  // namespace attnbench
