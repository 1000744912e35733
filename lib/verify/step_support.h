// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"
#include "lib/backend/support.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Whether a backend may be given the case's part of a step. Attention is always allowed. A write
/// into the cache needs a backend that says that it writes, and k_new and v_new that hold exactly
/// the numbers for the cache.
[[nodiscard]] Support supports_step(const BackendInfo& info, const Case& c);

}  // namespace attnbench
