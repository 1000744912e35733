// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace attnbench {

/// What build_tree() makes a draft tree of.
struct DraftSelection {
  std::vector<std::int64_t> selected_index;  ///< ascending candidates, one for each draft token
  std::vector<std::int64_t> parent_list;     ///< the candidate that slot `candidate / topk` extends
};

/// Candidates that `depth` steps propose: topk after the root, then topk after each of the topk
/// that a step keeps.
[[nodiscard]] constexpr std::int64_t draft_candidates(std::int64_t topk, std::int64_t depth) {
  return topk + (depth - 1) * topk * topk;
}

/// EAGLE-2's selection (Li et al., EMNLP 2024; SGLang's select_top_k_tokens and
/// organize_draft_results): a candidate scores the product of the probabilities on its way from the
/// root; each step expands the topk best candidates of the step before; the best `draft_tokens` of
/// all steps are kept. Of equal scores the earlier candidate is the better one, so a kept
/// candidate's parent, whose score is no smaller, is kept too.
///
/// `probability` of a candidate, given its parent, is at most 1; candidates of one parent are
/// neighbours. Throws InternalError when there are fewer candidates than draft tokens.
[[nodiscard]] DraftSelection select_draft_tokens(
    std::int64_t topk, std::int64_t depth, std::int64_t draft_tokens,
    const std::function<double(std::int64_t)>& probability);

}  // namespace attnbench
