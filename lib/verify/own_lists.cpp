// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/own_lists.h"

#include <algorithm>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

Case over_lists(const Case& c, std::span<const RowId> rows, std::span<const std::int32_t> lists) {
  const std::int64_t topk = c.layer.selection.topk;
  expects(std::ssize(lists) == std::ssize(rows) * topk, "lists of other rows");
  Case listed = c;
  listed.layer.selection.pattern = SelectionPattern::kCaptured;
  std::vector<std::shared_ptr<ChosenKeys>> of_requests;
  for (Request& request : listed.requests) {
    ChosenKeys none{.width = topk};
    none.pad(request.q_len);
    of_requests.push_back(std::make_shared<ChosenKeys>(std::move(none)));
    request.captured = of_requests.back();
  }
  for (const RowId& row : rows) {
    ChosenKeys& keys = *of_requests[to_size(row.request)];
    const std::int64_t kv_len = c.requests[to_size(row.request)].kv_len;
    const auto list = lists.first(to_size(topk));
    lists = lists.subspan(to_size(topk));
    std::ranges::transform(list, keys.indices.begin() + row.token * topk,
                           [&](std::int32_t key) { return key >= 0 && key < kv_len ? key : -1; });
    keys.lengths[to_size(row.token)] = static_cast<std::int32_t>(topk);
  }
  return listed;
}

JudgedFills::JudgedFills(const Case& c, const Observation& observed,
                         std::span<const FillTruth> truth)
    : c_(&c), truth_(truth) {
  if (c.step != StepPart::kPipeline) return;
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
