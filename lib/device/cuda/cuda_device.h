// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lib/device/device.h"

namespace attnbench {

/// Why no CUDA device can be used here ("built without nvcc", "no NVIDIA driver", "no CUDA
/// device visible", "sm_70 is older than sm_80"); empty when one can.
[[nodiscard]] std::string cuda_absence();

/// GPU number `ordinal` as CUDA counts them. Throws EnvironmentError when there is none such, or
/// when it is too old.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int ordinal = 0);

}  // namespace attnbench
