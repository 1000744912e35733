// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/backend/backend.h"
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

/// What a pair of backends is, which compute the phases of a step: their properties that hold for
/// both. Its graph support is SGLang's: decodes are captured with the decode backend, draft trees
/// with that of `speculative_attention_mode`.
[[nodiscard]] BackendInfo hybrid_info(std::string name, const BackendInfo& prefill,
                                      const BackendInfo& decode, Phase speculative_attention_mode);

/// A backend for each phase (phase_of()), on one cache. A step of one phase is its backend's alone.
/// A mixed step is divided: neighbouring requests of one phase make a step of their own, and all of
/// them are launched one after the other, into the same outputs.
class HybridBackend final : public Backend {
 public:
  /// `info` is hybrid_info() of both.
  HybridBackend(BackendInfo info, std::unique_ptr<Backend> prefill, std::unique_ptr<Backend> decode,
                Phase speculative_attention_mode);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  /// Both of a mixed step; a refusal names the backend that refuses.
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// Those that both read, the prefill backend's best first.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  /// The coarser roundings of both, of a mixed step.
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  [[nodiscard]] Backend& of(Phase phase) const {
    return phase == Phase::kPrefill ? *prefill_ : *decode_;
  }

  BackendInfo info_;
  std::unique_ptr<Backend> prefill_, decode_;
  Phase speculative_attention_mode_;
};

}  // namespace attnbench
