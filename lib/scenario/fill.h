// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attnbench {

struct AttentionLayer;
struct Case;

/// Data sets that make different faults visible. kTiming is what is timed. Before each timed sample
/// kSample, under a seed of that sample's own, replaces its queries and one key and value of each
/// request, so that nothing computed earlier is the answer; rewritten_pages.h has the rest.
enum class Fill : std::uint8_t { kNeedle, kTag, kSparseInt, kExtreme, kNormal, kTiming, kSample };

/// Those that a scenario can ask for.
inline constexpr std::array kFills{Fill::kNeedle,  Fill::kTag,    Fill::kSparseInt,
                                   Fill::kExtreme, Fill::kNormal, Fill::kTiming};

[[nodiscard]] std::string_view to_string(Fill fill);

/// No normal_element() is larger.
inline constexpr double kLargestNormal = 3.47;

/// Logit of a planted key: ln(2^17) + 1, so that one key outweighs the rest of a 128k context. A
/// constant, because a request's contents must not depend on its batch.
inline constexpr double kNeedleLogit = 12.78;

/// exp(88.7) overflows f32: a kernel that forgets the maximum returns infinities.
inline constexpr double kExtremeLogit = 88;

/// Extreme logits lie this far below the largest, by frequency: few keys at the top, some just
/// below, more below that, the rest far down.
inline constexpr double kExtremeSteps[] = {0, 1, 2, 8};

/// Size per dim of a key along the queries' direction that gives `logit`. Latent attention keeps
/// the direction off the columns that are V.
[[nodiscard]] float planted_size(const AttentionLayer& layer, double logit);

/// First of the dims of Q and K that carry planted logits. Latent rows keep them off V. Where all
/// of a row is V, the last eighth has them: of DeepSeek-V4 the 64 of 512 dims that carry RoPE, too.
[[nodiscard]] int first_planted_dim(const AttentionLayer& layer);

/// Largest magnitudes that any fill gives K and V, before the cache's scales divide them.
struct ContentRange {
  double k = 0;
  double v = 0;
};
[[nodiscard]] ContentRange content_range(const Case& c);

}  // namespace attnbench
