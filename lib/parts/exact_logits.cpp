// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/exact_logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_scores.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/contents/indexer_rows.h"
#include "lib/contents/label_rows.h"
#include "lib/contents/unit_rows.h"
#include "lib/parts/stored_index_row.h"

namespace attnbench {
namespace {

struct Widened {
  std::array<double, IndexerInputs::kDim> elements{};
  double length = 0;
};

Widened widened(const IndexRow& row) {
  Widened wide;
  double squares = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    wide.elements[i] = e4m3_value(row[i]);
    squares += wide.elements[i] * wide.elements[i];
  }
  wide.length = std::sqrt(squares);
  return wide;
}

}  // namespace

ExactRow::ExactRow(const Contents& contents, const Case& c, const ScoreRow& row)
    : contents_(&contents), case_(&c), row_(row) {
  const Selection& selection = c.layer.selection;
  const int all = selection.index_heads;
  // Each group has heads of its own where rows are in bf16.
  const int share = selection.scores_in_bf16() ? all / c.layer.selection_groups() : all;
  first_head_ = selection.scores_in_bf16() ? static_cast<int>(row.group) * share : 0;
  for (int head = first_head_; head < first_head_ + share; ++head) {
    const Widened q = widened(index_query(contents, row.request, row.token, head));
    q_.insert(q_.end(), q.elements.begin(), q.elements.end());
    weights_.push_back(selection.scores_in_bf16()
                           ? static_cast<double>(kMaximaQueryScale)
                           : index_weight(contents, row.request, row.token, head, all));
    size_ += std::abs(weights_.back()) * q.length;
  }
}

ExactRow::Logit ExactRow::of_unit(std::int64_t number) const {
  if (case_->layer.selection.scores_representations()) return of_representation(number);
  if (case_->layer.selection.scores_labels()) return of_label(number);
  return case_->layer.selection.takes_maxima() ? of_keys(number) : of_row(number);
}

/// Tensor cores of sm_90 align e4m3 products to the largest of an instruction's and cut them 13
/// bits below it. The error of a dot product is bounded by a share of |q| |k| that leaves room for
/// that, and for f32's sums over heads. It is a third of what a head too few of 64 makes: 1/64 of
/// the weight, times some 0.09, which q.k is of |q| |k| where it is positive.
ExactRow::Logit ExactRow::of_row(std::int64_t number) const {
  constexpr double kShare = 0x1p-11;
  const IndexKey key = index_key(*contents_, row_.request, number, case_->layer.selection.unit);
  const Widened k = widened(key.row);
  double sum = 0;
  for (std::size_t head = 0; head < weights_.size(); ++head) {
    double dot = 0;
    for (std::size_t i = 0; i < k.elements.size(); ++i) {
      dot += q_[head * to_size(IndexerInputs::kDim) + i] * k.elements[i];
    }
    sum += weights_[head] * std::max(dot, 0.0);
  }
  return {key.scale * sum, kShare * key.scale * k.length * size_};
}

/// Products of bf16 are exact in f32, of which a sum of 128 loses 128 x 2^-24 of |q| |k| at most;
/// four times as much has room for what tensor cores cut off. The last unit is the query's own.
ExactRow::Logit ExactRow::of_keys(std::int64_t number) const {
  constexpr double kShare = 0x1p-15;
  if (number + 1 == row_.units) return {kOwnUnitScore, 0, true};
  const std::int64_t unit = case_->layer.selection.unit;
  Logit largest{-std::numeric_limits<double>::infinity(), 0};
  for (std::int64_t j = number * unit; j < (number + 1) * unit; ++j) {
    const IndexKey key = index_key(*contents_, row_.request, j, 1);
    const Widened k = widened(key.row);
    double dot = 0;
    for (std::size_t i = 0; i < k.elements.size(); ++i) dot += q_[i] * k.elements[i];
    largest.value = std::max(largest.value, weights_[0] * key.scale * dot);
    largest.bound = std::max(largest.bound, kShare * key.scale * k.length * size_);
  }
  return largest;
}

/// A head's products are summed with those of the group's other heads, or stand alone. f32's sums
/// lose 2^-24 of |q| |row| for each product; four times as much has room for what tensor cores cut
/// off.
ExactRow::Logit ExactRow::of_representation(std::int64_t number) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_stale(*contents_, row_.request, number)) return {-kInfinity, 0};
  const AttentionLayer& layer = case_->layer;
  const UnitRows rows = unit_rows(*contents_, row_.request, number, row_.group);
  const std::size_t last = to_size(layer.selection.rows_of_unit() - 1), heads = weights_.size();
  double sum = 0, largest = -kInfinity, squares = 0;
  for (std::size_t head = 0; head < heads; ++head) {
    double dot = 0;
    for (std::size_t d = 0; d < rows[0].size(); ++d) {
      const double q = weights_[head] * q_[head * rows[0].size() + d];
      dot += std::max(q * static_cast<double>(rows[0][d]), q * static_cast<double>(rows[last][d]));
    }
    sum += dot;
    largest = std::max(largest, dot);
  }
  for (std::size_t d = 0; d < rows[0].size(); ++d) {
    const double most = std::max(std::abs(static_cast<double>(rows[0][d])),
                                 std::abs(static_cast<double>(rows[last][d])));
    squares += most * most;
  }
  const bool of_group = layer.selection.score == SelectionScore::kGroup;
  const double share = 0x1p-15 * static_cast<double>(of_group ? heads : 1);
  return {layer.scale * (of_group ? sum : largest),
          share * layer.scale * size_ * std::sqrt(squares)};
}

/// Each head's products are of the channels of its KV head. f32's sums lose 2^-24 of the products'
/// sizes for each of 128 at most; four times as much has room for what tensor cores cut off.
ExactRow::Logit ExactRow::of_label(std::int64_t key) const {
  constexpr double kShare = 0x1p-15;
  const AttentionLayer& layer = case_->layer;
  Logit largest{-std::numeric_limits<double>::infinity(), 0};
  for (std::size_t head = 0; head < weights_.size(); ++head) {
    const int kv_head = (first_head_ + static_cast<int>(head)) / layer.group_size();
    const LabelledKey k = labelled_key(*contents_, row_.request, key, kv_head);
    double sum = 0, size = 0;
    for (int i = 0; i < layer.selection.channels; ++i) {
      const std::size_t d = to_size(heavy_channel(*contents_, kv_head, i));
      const double product = weights_[head] * q_[head * k.size() + d] * static_cast<double>(k[d]);
      sum += product;
      size += std::abs(product);
    }
    largest.value = std::max(largest.value, layer.scale * sum);
    largest.bound = std::max(largest.bound, kShare * layer.scale * size);
  }
  return largest;
}

}  // namespace attnbench
