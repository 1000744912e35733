// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/backend.h"

namespace attnbench {

bool Plan::update(const ForwardBatch&, Stream&) { return false; }

}  // namespace attnbench
