// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/model/selection.h"

namespace attnbench {

/// What a layer computes, and from which tensors: keys and values of their own, or one latent row
/// that serves as both (multi-head latent attention: DeepSeek-V2, arXiv:2405.04434, section 2.1),
/// or a state S per request and value head that each token updates:
///   S <- e^g S;  w = beta (v - k^T S) of a delta net, else beta v;  S <- S + k w;  o = scale q^T S
/// Delta nets normalise q and k, Mamba-2 adds D v to o.
enum class Family : std::uint8_t {
  kSoftmax,
  kLatent,
  kGatedDeltaNet,  ///< arXiv:2412.06464: g is a number of a value head
  kKimiDelta,      ///< arXiv:2510.26692: g has a number for each key dim
  kLightning,      ///< arXiv:2401.04658: g is the same for all tokens, beta is 1; no delta
  kMamba2,  ///< arXiv:2405.21060: q, k, v, beta are its C, B, x and step size; g = A beta; no delta
};

/// "mha", "mla", "gated_delta_net", "kimi_delta", "lightning" or "mamba2": the word of records.
[[nodiscard]] std::string_view to_string(Family family);

/// What a sliding window counts between two nodes of a draft tree: their places among the request's
/// keys, as engines do (SGLang's Triton extend kernel), or positions in the text that a branch
/// spells, which is what the model means. Siblings share a position.
enum class WindowInTrees : std::uint8_t { kIndex, kDepth };
[[nodiscard]] std::string_view to_string(WindowInTrees rule);

/// What a query of a bidirectional span sees of the span: all of it, whatever the window (Gemma 3,
/// vLLM's mm_prefix), or only what a window leaves behind the query, and all ahead (Gemma 4).
enum class SpanRule : std::uint8_t { kOverride, kWithinWindow };
[[nodiscard]] constexpr std::string_view to_string(SpanRule rule) {
  return rule == SpanRule::kOverride ? "override" : "within_window";
}

/// Dual-chunk attention (Qwen2.5-1M, arXiv:2501.15383, section 3.1; the keys of Hugging Face's
/// dual_chunk_attention_config): positions between a query and a key that are farther apart than a
/// model has learned are replaced by smaller ones, so that a query has three forms of itself.
struct DualChunk {
  std::int64_t chunk_size = 0;  ///< tokens; 0: another attention
  std::int64_t local_size = 0;  ///< tokens, below chunk_size

  [[nodiscard]] constexpr bool exists() const { return chunk_size > 0; }
  /// Tokens from one chunk of keys to the next.
  [[nodiscard]] constexpr std::int64_t step() const { return chunk_size - local_size; }
  friend bool operator==(const DualChunk&, const DualChunk&) = default;
};

/// One attention layer as one tensor-parallel rank sees it (the parameters of SGLang's
/// RadixAttention, python/sglang/srt/layers/radix_attention.py).
struct AttentionLayer {
  Family family = Family::kSoftmax;
  int heads_q = 0;       ///< recurrent: of queries and keys
  int heads_kv = 0;      ///< 1 for kLatent; recurrent: of values, states and outputs
  int head_dim_qk = 0;   ///< dk; kLatent: kv_lora_rank + qk_rope_head_dim, 576 for DeepSeek
  int head_dim_v = 0;    ///< dv; kLatent: kv_lora_rank, 512; V is the first dv columns of the K row
  double scale = 0;      ///< multiplies q.k; 1/sqrt(192) for DeepSeek, not 1/sqrt(576)
  double logit_cap = 0;  ///< cap * tanh(s / cap) after scaling; 0 = off
  /// Grok's temperature (xai_temperature_len of SGLang's Triton kernels): after the cap, logits of
  /// the query at place i among its request's keys are multiplied by log2(i) / log2(this) where i
  /// is larger. 0 = off; else at least 2.
  std::int64_t temperature_len = 0;
  /// Previous keys visible, the own one not counted; not causal: as many ahead too. -1 = all.
  std::int64_t sliding_window_size = -1;
  WindowInTrees window_in_trees = WindowInTrees::kIndex;
  SpanRule span_rule = SpanRule::kOverride;  ///< read where a request has spans
  /// Chunked local attention (Llama 4): of the keys that causality and a window show, a query sees
  /// those of its own chunk of so many keys alone; both places count among the request's keys, in
  /// draft trees too. 0: no chunks.
  std::int64_t attention_chunk = 0;
  /// A key at place j meets the query at place i among the request's keys in the form that
  /// floor(i / step) - floor(j / step) says: 0 intra, 1 succ, 2 and more inter. Causal; one
  /// softmax.
  DualChunk dual_chunk;
  /// Read where it exists(). Causal, in steps without branching drafts; the LSE is over the chosen
  /// keys only, without the sink.
  Selection selection;
  /// Tokens of a compressed row (CSA and HCA of DeepSeek-V4, 4 and 128): beside the keys of its n
  /// tokens a request has floor(n / this) rows, which are keys and values of their own. They
  /// stand behind the tokens among its keys: row c is key n + c. A query at position t sees, beside
  /// what the mask shows of the tokens, the first floor((t + 1) / this) rows or, under a selection,
  /// those of its list, in one softmax; a token may count twice, as itself and within a row. 0:
  /// there are none. Causal latent layers only, whose LSE leaves the sink out.
  std::int64_t compress_ratio = 0;
  bool causal = true;  ///< bottom-right aligned
  /// Causal by blocks of so many of a request's new tokens (block diffusion): a query sees the keys
  /// up to the last one of its block, or of its request. 1: up to its own.
  std::int64_t causal_block = 1;
  bool is_cross_attention =
      false;               ///< keys come from an encoder: kv_len says how many; never causal
  bool has_sinks = false;  ///< a learned logit per query head joins the denominator
  bool has_alibi = false;  ///< -slope_h * |i - j| joins the logit (arXiv:2108.12409)
  /// kLatent: queries come as two dense tensors, those of the latent columns and those of the rope
  /// columns, as the absorbing product and RoPE leave them.
  bool queries_apart = false;
  int ranks = 1;  ///< that divide the model's query heads; heads_q is the share of the first one

  /// Compressed rows of so many tokens, which may be negative.
  [[nodiscard]] constexpr std::int64_t compressed_rows(std::int64_t tokens) const {
    return compress_ratio > 0 && tokens > 0 ? tokens / compress_ratio : 0;
  }
  /// Keys that the cache has of a request with so many tokens.
  [[nodiscard]] constexpr std::int64_t cached_keys(std::int64_t tokens) const {
    return tokens + compressed_rows(tokens);
  }
  /// What each query token sees is no run of keys: a list, or compressed rows beside a window.
  [[nodiscard]] constexpr bool gathers_keys() const {
    return selection.exists() || compress_ratio > 0;
  }
  /// Kernels that gather keys (FlashMLA) give the LSE of the keys only.
  [[nodiscard]] constexpr bool sink_in_lse() const { return !gathers_keys(); }
  /// Forms of each query, which lie one behind the other in its row: intra, succ, inter.
  [[nodiscard]] constexpr int query_variants() const { return dual_chunk.exists() ? 3 : 1; }
  /// Lists of chosen keys that a query token has.
  [[nodiscard]] constexpr int selection_groups() const {
    if (selection.groups == SelectionGroups::kOne) return 1;
    return selection.groups == SelectionGroups::kKvHeads ? heads_kv : heads_q;
  }
  /// The one that a query head reads.
  [[nodiscard]] constexpr int selection_group(int head) const {
    if (selection.groups == SelectionGroups::kOne) return 0;
    return selection.groups == SelectionGroups::kKvHeads ? head / group_size() : head;
  }
  /// Length of a row of queries.
  [[nodiscard]] constexpr int query_dim() const { return query_variants() * head_dim_qk; }
  /// Query heads per KV head; of a recurrent layer, value heads per key head.
  [[nodiscard]] constexpr int group_size() const {
    return is_recurrent() ? heads_kv / heads_q : heads_q / heads_kv;
  }
  /// Heads of the output.
  [[nodiscard]] constexpr int heads_out() const { return is_recurrent() ? heads_kv : heads_q; }
  /// Heads of this step's keys.
  [[nodiscard]] constexpr int heads_k() const { return is_recurrent() ? heads_q : heads_kv; }
  /// The family in the word of records.
  [[nodiscard]] std::string_view attention() const { return to_string(family); }
  /// A recurrent layer in words: "gated delta net".
  [[nodiscard]] std::string_view recurrence() const;
  /// A row of the cache serves as key and, its first columns, as value.
  [[nodiscard]] constexpr bool shares_row_of_k_and_v() const { return family == Family::kLatent; }
  /// A state per request instead of keys and values per token; no softmax, so no LSE.
  [[nodiscard]] constexpr bool is_recurrent() const { return family >= Family::kGatedDeltaNet; }
  [[nodiscard]] constexpr bool is_delta_net() const {
    return family == Family::kGatedDeltaNet || family == Family::kKimiDelta;
  }
  /// Each head adds its D times v to an output.
  [[nodiscard]] constexpr bool has_skip() const { return family == Family::kMamba2; }
  /// Log decays of a token and value head of a recurrent layer: one for all key dims, or one each.
  [[nodiscard]] constexpr int gate_dims() const {
    return family == Family::kKimiDelta ? head_dim_qk : 1;
  }
};

/// What logits of the query at `place` are multiplied by, 1 in a layer without temperature. A
/// query's place is kv_len - q_len + its token, in draft trees too.
[[nodiscard]] double logit_temperature(const AttentionLayer& layer, std::int64_t place);

/// First key of the chunk that the query at `place` among a request's keys belongs to; 0 in a layer
/// without chunks, and where queries outnumber keys. Kernels call it too.
template <class Index>
[[nodiscard]] constexpr Index chunk_begin(Index chunk, Index place) {
  return chunk > 0 && place > 0 ? place / chunk * chunk : 0;
}

/// ALiBi's slopes are the whole model's, whose heads the ranks divide. Of n heads, n a power of
/// two, head h's is 2^(-8 (h + 1) / n); with other numbers of heads n is the largest power of two
/// that they hold, and the heads beyond take every other slope of 2 n heads (the authors' code,
/// BLOOM's).
[[nodiscard]] constexpr int alibi_power(const AttentionLayer& layer) {
  int n = 1;
  while (2 * n <= layer.heads_q * layer.ranks) n *= 2;
  return n;
}
/// Base-2 logarithm of the slope of query head `head`, exact; kernels call it too.
[[nodiscard]] constexpr float alibi_log2_slope(int power, int head) {
  const int of_twice_as_many = head < power ? 2 * (head + 1) : 2 * (head - power) + 1;
  return -4.0f * static_cast<float>(of_twice_as_many) / static_cast<float>(power);
}
/// The slope itself.
[[nodiscard]] double alibi_slope(const AttentionLayer& layer, int head);

}  // namespace attnbench
