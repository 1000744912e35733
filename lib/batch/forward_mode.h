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
  kDraftExtend,    ///< a draft model reads what was accepted: as many tokens as that was
  kSplitPrefill,   ///< a prompt, a slice of the layers at a time: in each of them an extend
  kDraftExtendV2,  ///< a draft model reads all N tokens of its draft, whatever was accepted
  kDllmExtend,     ///< block diffusion: the keys of a block see each other
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
    case ForwardMode::kSplitPrefill:
      return "split_prefill";
    case ForwardMode::kDraftExtendV2:
      return "draft_extend_v2";
    case ForwardMode::kDllmExtend:
      return "dllm_extend";
  }
  return "?";
}

[[nodiscard]] constexpr bool is_decode_or_idle(ForwardMode mode) {
  return mode == ForwardMode::kDecode || mode == ForwardMode::kIdle;
}

/// SGLang's is_extend, of which target_verify is one too.
[[nodiscard]] constexpr bool is_extend(ForwardMode mode, bool include_draft_extend_v2 = false) {
  if (mode == ForwardMode::kDraftExtendV2) return include_draft_extend_v2;
  return !is_decode_or_idle(mode);
}

/// Whether each request brings as many new tokens as extend_seq_lens says (SGLang's
/// is_extend_or_draft_extend_or_mixed, fixed widths included).
[[nodiscard]] constexpr bool has_extend_lens(ForwardMode mode) {
  return is_extend(mode, true) && mode != ForwardMode::kTargetVerify;
}

/// Whether engines record such steps as CUDA graphs and pad them to a recorded size (SGLang's
/// is_cuda_graph; draft_extend has a runner of its own).
[[nodiscard]] constexpr bool is_cuda_graph(ForwardMode mode) {
  return is_decode_or_idle(mode) || mode == ForwardMode::kTargetVerify;
}

}  // namespace attnbench
