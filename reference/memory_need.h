// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/scenario/case.h"

namespace attnbench::reference {

/// Bytes that evaluate_rows() of `fills` contents takes on `threads` threads, at most: logits of
/// long contexts.
[[nodiscard]] std::int64_t memory_need(const Case& c, int threads, std::int64_t fills = 1);

}  // namespace attnbench::reference
