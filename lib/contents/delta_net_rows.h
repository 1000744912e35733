// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/contents/content_rows.h"

// The formulas of a recurrent layer's contents, for host and GPU alike (content_rows.h says why).
// What each fill shows:
//   normal, timing, sample   everything at random, memories of two to a hundred tokens
//   needle       one of eight keys at a time, no decay, beta near 1: an output is one earlier value
//   tag          one key throughout, beta 1/2: an output is a fading mean of tags, newest first
//   sparse_int   small integers, some keys all zeros (the norm's eps), decays of 1 and 1/2
//   extreme      decays to nothing, keys of 2^-12 (where eps weighs) to 2^10, large values; where
//                keys are not normalised they go up to 2, so that f16 holds an output
// Gates of lightning attention, and the A and D of Mamba-2, are parameters: the same for all tokens
// and fills.
namespace attnbench {

namespace content_detail {
inline constexpr std::int64_t kNeedleKeys = 8;

/// Uniform in [0, 1), a multiple of 2^-24.
[[nodiscard]] constexpr float uniform(std::uint64_t key, std::uint32_t dim = 0) {
  return static_cast<float>(element_bits(key, dim) >> 8) * 0x1p-24f;
}

/// 2^-n for small n.
[[nodiscard]] constexpr float half_to(int n) { return 1.0f / static_cast<float>(1 << n); }
}  // namespace content_detail

/// Queries and keys: rows of key head `head`, whose tokens count from the step's (queries) or the
/// request's (keys) first.
[[nodiscard]] constexpr RowRecipe delta_net_key_like(const ContentParams& p, Role role,
                                                     std::uint64_t stream, std::int64_t position,
                                                     int head) {
  RowRecipe r;
  r.key = row_key(p.seed, role, stream, position, head);
  r.factor = 1;
  switch (p.fill) {
    case Fill::kNeedle:
      r.formula = Formula::kTowards;
      r.towards = row_key(p.seed, Role::kNeedle, 0, position % content_detail::kNeedleKeys, head);
      break;
    case Fill::kTag:
      r.formula = Formula::kTowards;
      r.towards = content_detail::direction_key(p, head);
      break;
    case Fill::kSparseInt:
      r.formula = Formula::kSparseInteger;
      break;
    case Fill::kExtreme:
      r.formula = Formula::kNormal;
      r.factor = element_bits(r.key, 1u << 20) % 2 == 0 ? 0x1p-12f
                 : p.is_delta_net                       ? 0x1p10f
                                                        : 2.0f;
      break;
    case Fill::kSample:
    case Fill::kNormal:
    case Fill::kTiming:
      r.formula = Formula::kNormal;
      break;
  }
  return r;
}

[[nodiscard]] constexpr RowRecipe delta_net_q(const ContentParams& p, std::uint64_t stream,
                                              std::int64_t token, int head) {
  return delta_net_key_like(p, Role::kQ, stream, token, head);
}

[[nodiscard]] constexpr RowRecipe delta_net_k(const ContentParams& p, std::uint64_t stream,
                                              std::int64_t position, int head) {
  return delta_net_key_like(p, Role::kK, stream, position, head);
}

[[nodiscard]] constexpr RowRecipe delta_net_v(const ContentParams& p, std::uint64_t stream,
                                              std::int64_t position, int head) {
  RowRecipe r = v_recipe(p, stream, position, head);
  if (p.fill == Fill::kExtreme && p.is_delta_net) r.factor = 0x1p8f;
  return r;
}

/// Row `key_dim` of a value head's state before the step.
[[nodiscard]] constexpr RowRecipe delta_net_state(const ContentParams& p, std::uint64_t stream,
                                                  int head, int key_dim) {
  RowRecipe r;
  r.key = row_key(p.seed, Role::kState, stream, key_dim, head);
  r.formula = Formula::kNormal;
  r.factor = p.fill == Fill::kExtreme && p.is_delta_net ? 0x1p8f : 1.0f;
  return r;
}

/// Inside (0, 1); 1 of lightning attention.
[[nodiscard]] constexpr float delta_net_beta(const ContentParams& p, std::uint64_t stream,
                                             std::int64_t position, int head) {
  if (p.is_lightning) return 1;
  const float u = content_detail::uniform(row_key(p.seed, Role::kBeta, stream, position, head));
  switch (p.fill) {
    case Fill::kNeedle:
      return 0.998046875f;
    case Fill::kTag:
      return 0.5f;
    case Fill::kSparseInt:
      return u < 0.5f ? 0.25f : 0.75f;
    case Fill::kExtreme:
      return u < 0.5f ? 0x1p-10f : 1 - 0x1p-10f;
    case Fill::kSample:
    case Fill::kNormal:
    case Fill::kTiming:
      break;
  }
  return 0.0625f + 0.875f * u;
}

/// A of a head of Mamba-2, from -4 to -1/8: its step sizes are below 1 here, and a power of two
/// keeps A beta / beta the same for each token.
[[nodiscard]] constexpr float mamba2_a(int head) {
  return -8 * content_detail::half_to(1 + head % 6);
}

/// D of a head of Mamba-2.
[[nodiscard]] constexpr float mamba2_skip(int head) {
  return 0.25f * static_cast<float>(1 + head % 4);
}

/// Log decay of a token under a value head, of key dim `dim` where each has its own.
[[nodiscard]] constexpr float delta_net_gate(const ContentParams& p, std::uint64_t stream,
                                             std::int64_t position, int head, int dim) {
  // The rates of a first layer's 64 heads go from 2^-0.125 to 2^-8, as ALiBi's slopes do (vLLM,
  // model_executor/layers/lightning_attn.py).
  if (p.is_lightning) return -content_detail::half_to(1 + head % 8);
  if (!p.is_delta_net) return mamba2_a(head) * delta_net_beta(p, stream, position, head);
  const std::uint64_t key = row_key(p.seed, Role::kGate, stream, position, head);
  const float u = content_detail::uniform(key, static_cast<std::uint32_t>(dim));
  switch (p.fill) {
    case Fill::kNeedle:
    case Fill::kTag:
      return 0;
    case Fill::kSparseInt:
      return u < 0.5f ? 0.0f : -0.6931472f;
    case Fill::kExtreme:
      return u < 0.125f ? -100.0f : u < 0.25f ? -20.0f : 0.0f;
    case Fill::kSample:
    case Fill::kNormal:
    case Fill::kTiming:
      break;
  }
  // Between 1/128 and 1 by head and key dim, as a model's learned rates differ.
  return -content_detail::half_to(1 + (head + dim) % 6) * (0.5f + u);
}

}  // namespace attnbench
