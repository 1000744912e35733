// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// What a run says, in a sentence: "paged_fa is fastest in 7 of 12 cases, 1.00-1.17 of the best;
/// 3 figures uncertain; mine failed in 2". Only comparisons of two right backends count; empty
/// where there are none. Uncertain: without an interval, or with one wider than asked for.
[[nodiscard]] std::string answer_text(const RunResult& run);

}  // namespace attnbench
