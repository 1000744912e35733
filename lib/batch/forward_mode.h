// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace attnbench {

/// The kind of one forward step of a whole batch (SGLang's ForwardMode, forward_batch_info.py).
enum class ForwardMode : std::uint8_t {
  kExtend,
  kDecode,
  kMixed,
  kIdle,
  kTargetVerify,
  kDraftExtend
};

[[nodiscard]] constexpr std::string_view to_string(ForwardMode mode) {
  switch (mode) {
    case ForwardMode::kExtend:
      return "extend";
    case ForwardMode::kDecode:
      return "decode";
    case ForwardMode::kMixed:
      return "mixed";
    case ForwardMode::kIdle:
      return "idle";
    case ForwardMode::kTargetVerify:
      return "target_verify";
    case ForwardMode::kDraftExtend:
      return "draft_extend";
  }
  return "?";
}

[[nodiscard]] constexpr bool is_decode_or_idle(ForwardMode mode) {
  return mode == ForwardMode::kDecode || mode == ForwardMode::kIdle;
}

/// Everything that is neither decode nor idle.
[[nodiscard]] constexpr bool is_extend(ForwardMode mode) { return !is_decode_or_idle(mode); }

}  // namespace attnbench
