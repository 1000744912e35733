// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/draft_selection.h"

#include <algorithm>
#include <numeric>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// The `count` best of the candidates from `first` on, best first.
std::vector<std::int64_t> best_candidates(const std::vector<double>& scores, std::int64_t first,
                                          std::int64_t count) {
  std::vector<std::int64_t> order(scores.size() - static_cast<std::size_t>(first));
  std::iota(order.begin(), order.end(), first);
  const auto better = [&](std::int64_t a, std::int64_t b) {
    const double score_a = scores[static_cast<std::size_t>(a)];
    const double score_b = scores[static_cast<std::size_t>(b)];
    return score_a != score_b ? score_a > score_b : a < b;
  };
  std::ranges::partial_sort(order, order.begin() + count, better);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace

DraftSelection select_draft_tokens(std::int64_t topk, std::int64_t depth, std::int64_t draft_tokens,
                                   const std::function<double(std::int64_t)>& probability) {
  expects(
      topk > 0 && depth > 0 && draft_tokens >= 0 && draft_tokens <= draft_candidates(topk, depth),
      "a draft tree has no more tokens than candidates");
  DraftSelection selection;
  selection.parent_list = {-1};  // slot 0: the root
  std::vector<double> scores;
  const auto propose = [&](double parent_score) {
    for (std::int64_t k = 0; k < topk; ++k) {
      scores.push_back(parent_score * probability(static_cast<std::int64_t>(scores.size())));
    }
  };
  propose(1);
  std::int64_t step_begin = 0;
  for (std::int64_t step = 1; step < depth; ++step) {
    const std::vector<std::int64_t> expanded = best_candidates(scores, step_begin, topk);
    step_begin = static_cast<std::int64_t>(scores.size());
    for (const std::int64_t parent : expanded) {
      selection.parent_list.push_back(parent);
      propose(scores[static_cast<std::size_t>(parent)]);
    }
  }
  selection.selected_index = best_candidates(scores, 0, draft_tokens);
  std::ranges::sort(selection.selected_index);
  return selection;
}

}  // namespace attnbench
