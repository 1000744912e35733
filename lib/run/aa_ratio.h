// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "lib/result/record.h"

namespace attnbench {

/// Completes the last record, when it is the second of an A/A pair, with what it measured over the
/// first: an earlier one of `records`.
void add_aa_ratio(std::span<Record> records);

}  // namespace attnbench
