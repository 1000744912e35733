// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/registry.h"

namespace attnbench {

/// Registers every backend of this program, and every one it could have with the reason it is
/// absent.
void register_builtin_backends(Registry& registry);

}  // namespace attnbench
