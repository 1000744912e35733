// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// What an indexer that takes maxima (SelectionScore::kMax) gives the query's own unit, as vLLM's
/// for MiniMax-M3 does (models/minimax_m3/common); transformers' gives it +inf. Either is right.
inline constexpr float kOwnUnitScore = 1e29f;

/// What a step of StepPart::kSelect reads: the logits that an indexer gave the units of keys of T
/// query tokens, padding's included, for each group of heads. Borrowed memory of the device that
/// computes.
struct IndexScores {
  /// [T, groups, columns] f32, dense; rows begin at multiples of 256 bytes. What lies behind the
  /// units that a query sees ranks above all of them.
  const float* logits = nullptr;
  const std::int32_t* row_lens = nullptr;  ///< [T] units that the query sees: 0 of padding
  /// [T] the unit that stands in each of a query's lists behind those that are selected, without a
  /// score: its own (Selection::has_tail()); -1: none. Null: lists have what is selected only, and
  /// no room for more.
  const std::int32_t* tails = nullptr;
  std::int64_t tokens = 0;  ///< T
  std::int64_t groups = 1;
  std::int64_t columns = 0;
};

}  // namespace attnbench
