// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "lib/fixture/tensor_ops.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

/// Copies rows out of a fixture and looks through those that nobody asked for.
class OutputReader {
 public:
  OutputReader(const Fixture& fixture, std::span<const RowId> rows)
      : case_(&fixture.fixture_case()), batch_(&fixture.batch()) {
    for (const Request& request : case_->requests) {
      first_token_.push_back(first_token_.back() + request.q_len);
    }
    suspects_ = fixture.non_finite_outputs();
    std::vector<OutputRow> needed = suspects_;
    for (const RowId& row : rows) needed.push_back({token_of(row), row.head});
    outputs_ = fixture.host_outputs(needed);
  }

  void copy(const RowId& row, FillOutputs& taken) const {
    const std::int64_t token = token_of(row);
    const auto append = [&](const TensorView& view) {
      const std::byte* const data = view.row(token, row.head);
      taken.rows.insert(taken.rows.end(), data, data + view.shape[2] * size_bytes(view.dtype));
    };
    append(outputs_.out);
    append(outputs_.lse);
    taken.pages.push_back(page_of(token));
  }

  /// An output that was never written is poison still.
  void scan_elsewhere(std::span<const RowId> asked_for, FillOutputs& taken) const {
    std::set<std::pair<std::int64_t, int>> seen;
    for (const RowId& row : asked_for) seen.emplace(token_of(row), row.head);
    for (const OutputRow& row : suspects_) {
      if (!seen.contains({row.token, row.head})) scan(row, taken);
    }
  }

 private:
  [[nodiscard]] std::int64_t token_of(const RowId& row) const {
    return first_token_[static_cast<std::size_t>(row.request)] + row.token;
  }

  void scan(const OutputRow& row, FillOutputs& taken) const {
    const std::byte* const out = outputs_.out.row(row.token, row.head);
    const std::int64_t step = size_bytes(outputs_.out.dtype);
    for (int d = 0; d < case_->layer.head_dim_v; ++d) {
      const float got = load(outputs_.out.dtype, out + d * step);
      if (is_bad_output(got)) note(row, d, got, taken);
    }
    const float lse = load(DType::kF32, outputs_.lse.row(row.token, row.head));
    if (is_bad_lse(lse)) note(row, -1, lse, taken);
  }

  void note(const OutputRow& row, int dim, float got, FillOutputs& taken) const {
    if (taken.non_finite_elsewhere++ > 0) return;  // one place is enough for a report
    const auto next = std::ranges::upper_bound(first_token_, row.token);
    const std::int64_t request = next - first_token_.begin() - 1;
    taken.first_elsewhere = {request,
                             case_->requests[static_cast<std::size_t>(request)].group,
                             row.token - *(next - 1),
                             row.head,
                             dim,
                             page_of(row.token),
                             static_cast<double>(got),
                             0};
  }

  [[nodiscard]] std::int64_t page_of(std::int64_t token) const {
    const auto& slots = batch_->out_cache_loc;
    if (case_->layer.is_cross_attention || token >= static_cast<std::int64_t>(slots.size())) {
      return -1;
    }
    return slots[static_cast<std::size_t>(token)] / case_->kv_cache.page_size;
  }

  const Case* case_;
  const ForwardBatch* batch_;
  std::vector<std::int64_t> first_token_{0};
  std::vector<OutputRow> suspects_;
  AttentionTensors outputs_;
};

}  // namespace

FillOutputs take_outputs(const Fixture& fixture, std::span<const RowId> rows) {
  FillOutputs taken;
  if (!attends(fixture.fixture_case().step)) return taken;  // there are none
  const OutputReader reader(fixture, rows);
  for (const RowId& row : rows) reader.copy(row, taken);
  reader.scan_elsewhere(rows, taken);
  return taken;
}

}  // namespace attnbench
