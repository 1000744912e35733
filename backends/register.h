// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/registry.h"

namespace attnbench {

/// Registers every backend of this program. A backend that this build or this machine cannot run is
/// registered as absent, with the reason.
void register_builtin_backends(Registry& registry);

}  // namespace attnbench
