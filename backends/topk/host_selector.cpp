// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "backends/topk/topk.h"
#include "lib/base/int_math.h"

namespace attnbench::topk {
namespace {

/// Scores: fewer are sifted faster than other threads can be started, and a piece has as many.
constexpr std::int64_t kWorthATeam = 1 << 16;
constexpr std::int64_t kWorthAPiece = 1 << 13;
/// The score of a unit that no list may have.
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// The batch's tensors lie where the host reads them. Each row is cut into as many pieces as let
/// all threads work. A piece keeps its own highest scores; the lowest score of the row's list is
/// among those.
class HostPlan final : public Plan {
 public:
  HostPlan(const ForwardBatch& batch, PlanMemory& memory)
      : batch_(&batch),
        scores_(batch.index_scores),
        columns_(batch.problem->layer.selection.topk),
        topk_(columns_ - (scores_->tails == nullptr ? 0 : 1)) {
    const std::int64_t most = std::max<std::int64_t>(scores_->columns / kWorthAPiece, 1);
    pieces_ = std::clamp<std::int64_t>(ceil_div(omp_get_max_threads(), rows()), 1, most);
    piece_ = ceil_div(scores_->columns, pieces_);
    std::byte* const room = memory.reserve(to_size(rows() * pieces_ * piece_) * sizeof(float));
    highest_ = static_cast<float*>(static_cast<void*>(room));
  }

  void run(Stream&) override {
    const bool worth = rows() * scores_->columns > kWorthATeam;
#pragma omp parallel if (worth)
    {
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < rows() * pieces_; ++i) sift(i / pieces_, i % pieces_);
#pragma omp for schedule(dynamic)
      for (std::int64_t row = 0; row < rows(); ++row) list(row);
    }
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return scores_->tokens * scores_->groups; }
  [[nodiscard]] std::int64_t units_of(std::int64_t row) const {
    return scores_->row_lens[row / scores_->groups];
  }
  [[nodiscard]] const float* scores_of(std::int64_t row) const {
    return scores_->logits + row * scores_->columns;
  }
  [[nodiscard]] float* highest_of(std::int64_t row, std::int64_t piece) const {
    return highest_ + (row * pieces_ + piece) * piece_;
  }
  [[nodiscard]] std::int64_t units_of(std::int64_t row, std::int64_t piece) const {
    return std::clamp<std::int64_t>(units_of(row) - piece * piece_, 0, piece_);
  }

  /// The highest scores of a piece to its beginning of the workspace.
  void sift(std::int64_t row, std::int64_t piece) const {
    if (units_of(row) <= topk_) return;
    const std::int64_t units = units_of(row, piece);
    float* const to = highest_of(row, piece);
    std::copy_n(scores_of(row) + piece * piece_, units, to);
    if (units > topk_) std::nth_element(to, to + topk_ - 1, to + units, std::greater());
  }

  /// The lowest score of the row's list.
  [[nodiscard]] float cut_of(std::int64_t row) const {
    float* const all = highest_of(row, 0);
    float* end = all + std::min(units_of(row, 0), topk_);
    for (std::int64_t piece = 1; piece < pieces_; ++piece) {
      end = std::copy_n(highest_of(row, piece), std::min(units_of(row, piece), topk_), end);
    }
    std::nth_element(all, all + topk_ - 1, end, std::greater());
    return all[topk_ - 1];
  }

  void list(std::int64_t row) const {
    list_units(row);
    if (scores_->tails != nullptr) add_tail(row);
    if (batch_->problem->layer.selection.padding == SelectionPadding::kFront) pad_front(row);
    if (batch_->index_outputs->arrays.size() < 3) return;
    const std::int32_t* const units = batch_->index_outputs->arrays[0].data + row * columns_;
    auto* const to =
        reinterpret_cast<float*>(batch_->index_outputs->arrays[2].data) + row * columns_;
    for (std::int64_t i = 0; i < columns_; ++i) {
      to[i] = units[i] < 0 ? kNone : scores_of(row)[units[i]];
    }
  }

  /// Behind the units of a list.
  void add_tail(std::int64_t row) const {
    std::int32_t* const to = batch_->index_outputs->arrays[0].data + row * columns_;
    std::int32_t& length = batch_->index_outputs->arrays[1].data[row];
    const std::int32_t tail = scores_->tails[row / scores_->groups];
    to[topk_] = -1;
    to[length] = tail;
    if (tail >= 0) ++length;
  }

  /// Brings a list to its last columns, all of which count.
  void pad_front(std::int64_t row) const {
    std::int32_t* const to = batch_->index_outputs->arrays[0].data + row * columns_;
    std::int32_t& length = batch_->index_outputs->arrays[1].data[row];
    std::rotate(to, to + length, to + columns_);
    length = static_cast<std::int32_t>(columns_);
  }

  void list_units(std::int64_t row) const {
    std::int32_t* const to = batch_->index_outputs->arrays[0].data + row * columns_;
    const std::int64_t units = units_of(row);
    if (units <= topk_ && !batch_->problem->layer.selection.is_hierarchical()) {  // none is stale
      std::iota(to, to + units, 0);
      std::fill(to + units, to + topk_, -1);
      batch_->index_outputs->arrays[1].data[row] = static_cast<std::int32_t>(units);
      return;
    }
    const float cut = units <= topk_ ? kNone : cut_of(row);
    const float* const scores = scores_of(row);
    if (cut == kNone) {
      std::int64_t taken = 0;
      for (std::int32_t unit = 0; unit < units; ++unit) {
        if (scores[unit] != kNone) to[taken++] = unit;
      }
      std::fill(to + taken, to + topk_, -1);
      batch_->index_outputs->arrays[1].data[row] = static_cast<std::int32_t>(taken);
      return;
    }
    batch_->index_outputs->arrays[1].data[row] = static_cast<std::int32_t>(topk_);
    // Those above the cut from the front, those at it from the end: the front overwrites what is
    // too many of them.
    std::int64_t above = 0, equal = 0;
    for (std::int32_t unit = 0; unit < units; ++unit) {
      if (scores[unit] > cut) {
        to[above++] = unit;
      } else if (scores[unit] == cut && above + equal < topk_) {
        to[topk_ - ++equal] = unit;
      }
    }
  }

  const ForwardBatch* batch_;
  const IndexScores* scores_;
  std::int64_t columns_;                 ///< of a list
  std::int64_t topk_;                    ///< of which it selects so many units
  std::int64_t pieces_ = 1, piece_ = 0;  ///< of a row, and columns of each
  float* highest_ = nullptr;             ///< [rows, pieces, columns of a piece]
};

}  // namespace

std::unique_ptr<Plan> HostSelector::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<HostPlan>(batch, memory);
}

}  // namespace attnbench::topk
