// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/support.h"
#include "lib/batch/problem.h"

namespace attnbench::cudnn {

/// What cuDNN 9.12 and later compute on sm_90 and this backend asks them for. Needs no cuDNN.
[[nodiscard]] Support supports(const Problem& problem);

}  // namespace attnbench::cudnn
