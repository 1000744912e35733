// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attnbench {

/// What a model's linear layers compute.
enum class LinearAttentionKind : std::uint8_t {
  kUnknown,
  kGatedDeltaNet,  ///< arXiv:2412.06464: Qwen3-Next, Qwen3.5
  kKimiDelta,      ///< Kimi delta attention, arXiv:2510.26692: Kimi Linear
  kLightning,      ///< arXiv:2401.04658: MiniMax-Text-01
  kMamba,          ///< arXiv:2312.00752: Jamba
  kMamba2,         ///< arXiv:2405.21060: Nemotron-H
};

/// The words of presets and data files, in the order of the enumerators.
inline constexpr std::array<std::string_view, 6> kLinearAttentionKindWords = {
    "unknown", "gated_delta_net", "kimi_delta", "lightning", "mamba", "mamba2"};

/// Whether attnbench runs layers of this kind.
[[nodiscard]] constexpr bool can_run(LinearAttentionKind kind) {
  return kind == LinearAttentionKind::kGatedDeltaNet || kind == LinearAttentionKind::kKimiDelta ||
         kind == LinearAttentionKind::kLightning || kind == LinearAttentionKind::kMamba2;
}

/// "gated delta nets".
[[nodiscard]] constexpr std::string_view to_string(LinearAttentionKind sort) {
  switch (sort) {
    case LinearAttentionKind::kUnknown:
      return "linear layers of an unknown sort";
    case LinearAttentionKind::kGatedDeltaNet:
      return "gated delta nets";
    case LinearAttentionKind::kKimiDelta:
      return "Kimi delta attention";
    case LinearAttentionKind::kLightning:
      return "lightning attention";
    case LinearAttentionKind::kMamba:
      return "Mamba";
    case LinearAttentionKind::kMamba2:
      return "Mamba-2";
  }
  return "?";
}

}  // namespace attnbench
