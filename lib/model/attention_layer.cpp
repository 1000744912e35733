// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/attention_layer.h"

#include <cmath>

namespace attnbench {

double alibi_slope(int head, int heads) { return std::exp2(-8.0 * (head + 1) / heads); }

}  // namespace attnbench
