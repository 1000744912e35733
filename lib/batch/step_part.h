// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace attnbench {

/// What a plan does of a layer's step. Engines write this step's keys and values into the cache by
/// a kernel of its own before attention reads them (SGLang's set_kv_buffer, vLLM's
/// reshape_and_cache).
enum class StepPart : std::uint8_t {
  kAttention,  ///< this step's keys and values are in the cache already
  kKvWrite,    ///< k_new and v_new go to the slots out_cache_loc, and nothing is computed
  kBoth,       ///< first the write, then attention over what was written
};
inline constexpr StepPart kStepParts[] = {StepPart::kAttention, StepPart::kKvWrite,
                                          StepPart::kBoth};

[[nodiscard]] constexpr bool writes_kv(StepPart part) { return part != StepPart::kAttention; }
[[nodiscard]] constexpr bool attends(StepPart part) { return part != StepPart::kKvWrite; }
[[nodiscard]] constexpr std::string_view to_string(StepPart part) {
  switch (part) {
    case StepPart::kAttention:
      return "attention";
    case StepPart::kKvWrite:
      return "kv_write";
    case StepPart::kBoth:
      return "both";
  }
  return "?";
}

}  // namespace attnbench
