// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/registry.h"

namespace attnbench {

/// Registers every backend of this program, and every one it could have with the reason it is
/// absent.
void register_builtin_backends(Registry& registry);

/// Those that need an NVIDIA GPU; absent in a build without nvcc or on a machine without one.
void register_cuda_backends(Registry& registry);

}  // namespace attnbench
