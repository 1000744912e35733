// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "lib/batch/forward_mode.h"

namespace attnbench {

/// Which backend of a pair computes a step.
enum class Phase : std::uint8_t { kPrefill, kDecode };

/// The phase of a step by SGLang's rule (HybridAttnBackend in hybrid_attn_backend.py): decode and
/// idle steps are the decode backend's, target_verify steps that of `speculative_attention_mode`,
/// all others the prefill backend's, draft_extend among them. Nothing for a mixed step: its
/// requests are divided as vLLM does (split_decodes_and_prefills with a threshold of 1): those of
/// one query token are the decode backend's.
[[nodiscard]] constexpr std::optional<Phase> phase_of(ForwardMode mode,
                                                      Phase speculative_attention_mode) {
  switch (mode) {
    case ForwardMode::kDecode:
    case ForwardMode::kIdle:
      return Phase::kDecode;
    case ForwardMode::kTargetVerify:
      return speculative_attention_mode;
    case ForwardMode::kExtend:
    case ForwardMode::kDraftExtend:
    case ForwardMode::kSplitPrefill:
    case ForwardMode::kDraftExtendV2:
    case ForwardMode::kDllmExtend:
      return Phase::kPrefill;
    case ForwardMode::kMixed:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The phase of a mixed step's request.
[[nodiscard]] constexpr Phase phase_of_request(std::int64_t q_len) {
  return q_len == 1 ? Phase::kDecode : Phase::kPrefill;
}

}  // namespace attnbench
