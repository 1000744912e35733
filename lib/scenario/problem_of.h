// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/batch/problem.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What a case asks of a backend. The limits are the case's own step.
[[nodiscard]] Problem problem_of(const Case& c);

}  // namespace attnbench
