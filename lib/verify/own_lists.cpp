// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/own_lists.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

Case over_lists(const Case& c, std::span<const RowId> rows, std::span<const std::int32_t> lists) {
  const std::int64_t topk = c.layer.selection.topk, groups = c.layer.selection_groups();
  const std::int64_t unit = c.layer.selection.unit, each = groups * topk;
  const bool weighs = c.layer.selection.weighs_units();
  expects(std::ssize(lists) == std::ssize(rows) * groups * c.layer.selection.columns(),
          "lists of other rows");
  Case listed = c;
  listed.layer.selection.pattern = SelectionPattern::kCaptured;
  std::vector<std::shared_ptr<ChosenKeys>> of_requests;
  for (Request& request : listed.requests) {
    ChosenKeys none{.groups = groups, .width = topk, .unit = unit};
    if (weighs) none.scores.resize(1);  // pad() goes on with what is there
    none.pad(request.q_len);
    of_requests.push_back(std::make_shared<ChosenKeys>(std::move(none)));
    request.captured = of_requests.back();
  }
  for (const RowId& row : rows) {
    ChosenKeys& keys = *of_requests[to_size(row.request)];
    // A right list has no unit that the window touches; another one must not count it twice.
    const Request& request = c.requests[to_size(row.request)];
    const std::int64_t units = c.layer.selection.names_complete_units()
                                   ? c.layer.selection.candidates(request.prefix_len() + row.token)
                                   : ceil_div(request.kv_len, unit);
    const auto of_token = lists.first(to_size(each));
    lists = lists.subspan(to_size(each));
    std::ranges::transform(
        of_token, keys.indices.begin() + row.token * each,
        [&](std::int32_t entry) { return entry >= 0 && entry < units ? entry : -1; });
    if (weighs) {
      std::ranges::transform(lists.first(to_size(each)), keys.scores.begin() + row.token * each,
                             [](std::int32_t bits) { return std::bit_cast<float>(bits); });
      lists = lists.subspan(to_size(each));
    }
    std::fill_n(keys.lengths.begin() + row.token * groups, groups, static_cast<std::int32_t>(topk));
  }
  return listed;
}

JudgedFills::JudgedFills(const Case& c, const Observation& observed,
                         std::span<const FillTruth> truth)
    : c_(&c), truth_(truth) {
  if (!is_pipeline(c.step)) return;
  own_.assign(truth.begin(), truth.end());
  const std::vector<RowId> rows = wanted_rows(truth).rows;
  for (std::size_t i = 0; i < observed.fills.size(); ++i) {
    cases_.push_back(over_lists(c, rows, observed.fills[i].lists));
    own_[i].rows =
        reference::evaluate_rows(cases_.back(), checked_contents(c, truth[i].fill), rows);
  }
  truth_ = own_;
}

std::string JudgedFills::passing_null_candidate(const Numerics& declared) const {
  if (cases_.empty()) return attnbench::passing_null_candidate(*c_, declared, truth_);
  for (const Fill fill : {Fill::kNormal, Fill::kTiming}) {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (truth_[i].fill != fill) continue;
      return attnbench::passing_null_candidate(cases_[i], declared, truth_.subspan(i, 1));
    }
  }
  return {};
}

}  // namespace attnbench
