// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/measure.h"

namespace attnbench {

void check_timer(Device&) {}  // no device here has a timer of its own

}  // namespace attnbench
