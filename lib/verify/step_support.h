// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"
#include "lib/backend/support.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Whether a backend may be asked for the case's part of a step at all: attention always, a write
/// into the cache where it says that it writes, and where k_new and v_new hold the very numbers
/// that the cache is to hold.
[[nodiscard]] Support supports_step(const BackendInfo& info, const Case& c);

}  // namespace attnbench
