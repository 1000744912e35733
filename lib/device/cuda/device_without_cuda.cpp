// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {

std::string cuda_absence() { return ATTNBENCH_CUDA_ABSENCE; }

std::unique_ptr<Device> make_cuda_device(int) { throw EnvironmentError(cuda_absence()); }

}  // namespace attnbench
