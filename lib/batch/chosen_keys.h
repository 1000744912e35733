// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/model/attention_layer.h"

namespace attnbench {

/// Keys that another kernel chose (sparse attention) for T query tokens: a list for each token and
/// group of heads.
struct ChosenKeys {
  /// [T, groups, width] units among the request's keys; -1: none.
  std::vector<std::int32_t> indices;
  /// [T, groups] topk_length: so many of a list's first entries count, the others do not, whatever
  /// they are.
  std::vector<std::int32_t> lengths;
  std::int64_t groups = 1;
  std::int64_t width = 0;
  std::int64_t unit = 1;  ///< keys
  /// [T, groups, width] what weighs the entries where each has a softmax of its own
  /// (SelectionSoftmax::kUnits), -inf of one that is none; empty elsewhere.
  std::vector<float> scores;

  /// The entries of a list that count; -1 among them are none.
  [[nodiscard]] std::span<const std::int32_t> list(std::int64_t token, std::int64_t group) const;
  /// The lists of `count` tokens from `first` on.
  [[nodiscard]] ChosenKeys of_tokens(std::int64_t first, std::int64_t count) const;
  /// Appends empty lists up to those of `tokens`.
  void pad(std::int64_t tokens);
};

/// The lists of `queries` neighbouring query tokens, the first at `position` among the request's
/// keys, as `layer.selection` describes them; `seed` is the request's. A list always has the
/// query's own unit, as those of selectors that never leave the newest tokens out, but for
/// selections that name complete units only. No list has a unit twice, but for
/// SelectionPattern::kDuplicates. Where a query can choose among no more units than a list has room
/// for, it has all of them, in their order; duplicates take half of the room and holes a quarter,
/// in every list. A tail (SelectionTail) is the list's last entry where it names a part of what the
/// query sees. A list depends only on its own token's position.
[[nodiscard]] ChosenKeys choose_keys(const AttentionLayer& layer, std::int64_t position,
                                     std::int64_t queries, std::uint64_t seed);

/// Gives each entry of `chosen`, whose first query is at `position`, a seeded score where units are
/// weighed: about the LSE of as many keys with logits near 0, so that a unit weighs as much as a
/// part of the window of its size. Of a layer without such weights nothing changes.
void draw_scores(const Selection& rule, std::int64_t position, std::uint64_t seed,
                 ChosenKeys& chosen);

/// Neighbouring positions [64 n, 64 n + 64) whose lists have a part in common
/// (SelectionPattern::kShared).
inline constexpr std::int64_t kNeighbours = 64;

}  // namespace attnbench
