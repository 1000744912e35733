// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/engines/engine_setup.h"
#include "lib/result/ranking.h"
#include "lib/result/record.h"

namespace attnbench {

/// Compute capability of the run's GPU, 90; 0 where there is none, or one that engines' rules do
/// not know.
[[nodiscard]] int capability_of(const RunResult& run);

/// What an engine's choice costs in cells of one case: "vllm:fa3, 1.04 of the best", with the least
/// and the most where cells differ. Empty where none of the cells launches the engine's kernel and
/// claims a speed.
[[nodiscard]] std::string cost_of_choice(Engine engine, const std::string& choice,
                                         std::span<const Record> records,
                                         std::span<const Ranking> rankings, int capability);

/// What a choice lost without a word, and what that costs in cells of one case where both were
/// timed: "in place of fa3 (1.31 of vllm:fa3)", "without a CUDA graph (1.19 of its graph)". Empty:
/// nothing was lost, or `choice` is not what the cells were told.
[[nodiscard]] std::string downgrade_of(Engine engine, const std::string& choice,
                                       std::span<const Record> records,
                                       std::span<const Ranking> rankings, int capability);

/// "SGLang would take fa3 (vllm:fa3, 1.04 of the best), vLLM FLASH_ATTN" of the records of one
/// case; empty where they hold no choice.
[[nodiscard]] std::string engine_line(std::span<const Record> records,
                                      std::span<const Ranking> rankings, int capability);

}  // namespace attnbench
