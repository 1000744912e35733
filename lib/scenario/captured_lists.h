// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Gives the requests of a case whose mix says `pattern: {file: …}` their lists, and the layer what
/// the lists are like. False where the files are other ones than the case needs, which is reported.
[[nodiscard]] bool read_captured_lists(const StrictMap& mix, Case& c, Problems& problems);

}  // namespace attnbench
