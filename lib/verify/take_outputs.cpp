// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "lib/fixture/state_memory.h"
#include "lib/fixture/tensor_ops.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

/// Copies rows out of a fixture and checks the other rows for elements that are not finite.
class OutputReader {
 public:
  OutputReader(const Fixture& fixture, std::span<const RowId> rows, bool with_lse)
      : fixture_(&fixture),
        case_(&fixture.fixture_case()),
        batch_(&fixture.batch()),
        with_lse_(with_lse && !case_->layer.is_recurrent()) {
    for (const Request& request : case_->requests) {
      first_token_.push_back(first_token_.back() + request.q_len);
    }
    suspects_ = fixture.non_finite_outputs(with_lse_);
    std::vector<OutputRow> needed = suspects_;
    for (const RowId& row : rows) {
      if (row.state_row < 0) needed.push_back({token_of(row), row.head});
    }
    outputs_ = fixture.host_outputs(needed);
    states_ = fixture.host_states();
    if (states_.data != nullptr) slots_ = slots_left(*batch_);
  }

  void copy(const RowId& row, FillOutputs& taken) const {
    if (row.state_row >= 0) return copy_state(row, taken);
    const std::int64_t token = token_of(row);
    const auto append = [&](const TensorView& view) {
      const std::byte* const data = view.row(token, row.head);
      taken.rows.insert(taken.rows.end(), data, data + view.shape[2] * size_bytes(view.dtype));
    };
    append(outputs_.out);
    if (outputs_.lse.size() > 0) append(outputs_.lse);
    taken.pages.push_back(page_of(token));
  }

  /// An output that was never written is poison still.
  void scan_elsewhere(std::span<const RowId> asked_for, FillOutputs& taken) const {
    std::set<std::pair<std::int64_t, int>> seen;
    for (const RowId& row : asked_for) {
      if (row.state_row < 0) seen.emplace(token_of(row), row.head);
    }
    for (const OutputRow& row : suspects_) {
      if (!seen.contains({row.token, row.head})) scan(row, taken);
    }
  }

  [[nodiscard]] std::vector<std::int32_t> lists_of(std::span<const RowId> rows) const {
    std::vector<std::int64_t> tokens;
    for (const RowId& row : rows) tokens.push_back(token_of(row));
    return fixture_->chosen_lists(tokens);
  }

  /// The same holds for a state that was not written completely, where it has to be.
  void scan_states(FillOutputs& taken) const {
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      if (case_->requests[r].q_len == 0 && batch_->has_initial_state[r] == 0) continue;
      for (std::int64_t i = 0; i < slots_[r].count; ++i) {
        for (int head = 0; head < case_->layer.heads_out(); ++head) {
          scan_state(r, i, head, taken);
        }
      }
    }
  }

 private:
  /// Of a step that leaves one state the row's token is 0, and so is the slot of its request's.
  void copy_state(const RowId& row, FillOutputs& taken) const {
    const std::int64_t slot = slots_[static_cast<std::size_t>(row.request)].first + row.token;
    append_area(taken.rows, state_row_of(states_, slot, row.head, row.state_row));
    taken.pages.push_back(-1);
  }

  /// The request's state number `index`; an unwritten one counts once.
  void scan_state(std::size_t request, std::int64_t index, int head, FillOutputs& taken) const {
    const float* const state = states_.state(slots_[request].first + index, head);
    for (std::int64_t i = 0; i < states_.dim_k * states_.dim_v; ++i) {
      if (!is_bad_output(state[i])) continue;
      return note_state(request, index, head, i, static_cast<double>(state[i]), taken);
    }
  }

  void note_state(std::size_t request, std::int64_t index, int head, std::int64_t element,
                  double got, FillOutputs& taken) const {
    if (taken.non_finite_elsewhere++ > 0) return;
    taken.first_elsewhere = {
        .request = static_cast<std::int64_t>(request),
        .group = case_->requests[request].group,
        .token = index,
        .head = head,
        .dim = static_cast<int>(element / states_.stride_v() % states_.dim_v),
        .got = got,
        .want = 0,
        .state_row = static_cast<int>(element / states_.stride_k() % states_.dim_k)};
  }

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
    if (!with_lse_) return;
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
    if (case_->layer.is_cross_attention || case_->layer.is_recurrent() ||
        token >= static_cast<std::int64_t>(slots.size())) {
      return -1;
    }
    return slots[static_cast<std::size_t>(token)] / case_->kv_cache.page_size;
  }

  const Fixture* fixture_;
  const Case* case_;
  const ForwardBatch* batch_;
  bool with_lse_;  ///< is among the outputs that must be finite
  std::vector<std::int64_t> first_token_{0};
  std::vector<OutputRow> suspects_;
  AttentionTensors outputs_;
  StatePool states_;
  std::vector<StateSlots> slots_;  ///< of each request; none of a layer without states
};

}  // namespace

FillOutputs take_outputs(const Fixture& fixture, std::span<const RowId> rows, bool with_lse) {
  FillOutputs taken;
  if (!attends(fixture.fixture_case().step)) return taken;  // there are none
  const OutputReader reader(fixture, rows, with_lse);
  for (const RowId& row : rows) reader.copy(row, taken);
  reader.scan_elsewhere(rows, taken);
  reader.scan_states(taken);
  if (builds(fixture.fixture_case().step)) taken.lists = reader.lists_of(rows);
  return taken;
}

}  // namespace attnbench
