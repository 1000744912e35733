// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// How keys and values are kept: separate heads, or one latent row that serves as both
/// (multi-head latent attention: DeepSeek-V2, arXiv:2405.04434, section 2.1).
enum class AttentionKind : std::uint8_t { kMha, kMlaAbsorbed };

/// One attention layer as one tensor-parallel rank sees it (the parameters of SGLang's
/// RadixAttention, python/sglang/srt/layers/radix_attention.py).
struct AttentionLayer {
  AttentionKind kind = AttentionKind::kMha;
  int heads_q = 0;
  int heads_kv = 0;     ///< 1 for kMlaAbsorbed
  int head_dim_qk = 0;  ///< dk; kMlaAbsorbed: kv_lora_rank + qk_rope_head_dim, 576 for DeepSeek
  int head_dim_v =
      0;  ///< dv; kMlaAbsorbed: kv_lora_rank, 512; V is the first dv columns of the K row
  double scale = 0;      ///< multiplies q.k; 1/sqrt(192) for DeepSeek, not 1/sqrt(576)
  double logit_cap = 0;  ///< cap * tanh(s / cap) after scaling; 0 = off
  std::int64_t sliding_window_size = -1;  ///< previous keys visible (own key not counted); -1 = all
  bool causal = true;                     ///< bottom-right aligned
  bool is_cross_attention =
      false;               ///< keys come from an encoder: kv_len says how many; never causal
  bool has_sinks = false;  ///< a learned logit per query head joins the denominator
  bool has_alibi = false;  ///< slope_h * (j - i) joins the logit; slopes: arXiv:2108.12409

  /// Query heads per KV head.
  [[nodiscard]] int group_size() const { return heads_q / heads_kv; }
};

/// ALiBi slope of query head `head` (global index) of `heads`: 2^(-8 (head + 1) / heads).
[[nodiscard]] double alibi_slope(int head, int heads);

}  // namespace attnbench
