// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"
#include "lib/selftest/fault.h"

namespace attnbench {

/// MutantBackend's plan for a recurrent layer, on a CPU: token by token, correct but for the fault.
/// Faults of other families change nothing.
[[nodiscard]] std::unique_ptr<Plan> plan_delta_net_mutant(Fault fault, const ForwardBatch& batch);

}  // namespace attnbench
