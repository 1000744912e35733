// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace attnbench {

// The inner loops of the ceilings, in a file of their own because they are compiled with -O3 and
// fused multiply-add. Results are returned so that no loop can be dropped.

/// Sum of all words: one read of the range.
[[nodiscard]] std::uint64_t sum_words(std::span<const std::uint64_t> words);

/// Runs `steps` steps of independent multiply-add chains in registers; returns a value that depends
/// on all.
[[nodiscard]] float multiply_add_chains(std::int64_t steps);

/// Floating-point operations of one step: multiply and add count one each.
[[nodiscard]] std::int64_t flop_per_step();

}  // namespace attnbench
