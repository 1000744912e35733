// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "lib/backend/numerics.h"
#include "lib/cost/cost.h"
#include "lib/device/device.h"

namespace attnbench {

/// The measured ceilings of a device as they hold for a backend of such numerics, one a step of
/// the case. Those of a GPU are of multiply-adds in bf16; a backend that declares operands in fp8
/// may multiply at twice that rate, on all tensor cores that take fp8 (NVIDIA's data sheets of
/// Ada, Hopper and Blackwell: 362 and 733 TFLOP/s of an L40S, 989 and 1979 of an H100).
[[nodiscard]] Ceilings ceilings_of_backend(const Ceilings& measured, DeviceKind kind,
                                           std::span<const Numerics> numerics);

}  // namespace attnbench
