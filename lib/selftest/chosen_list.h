// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// A row's list of chosen keys, as a mutant reads it: on the CPU and in a CUDA kernel.
#pragma once

#include <cmath>
#include <cstdint>

#include "lib/selftest/mutant_step.h"

namespace attnbench {

/// Of a layer with a selection only.
class ChosenList {
 public:
  ATTNBENCH_HOST_DEVICE ChosenList(const MutantStep& step, std::int64_t token, int head)
      : fault_(step.fault), unit_(step.layer.selection.unit), columns_(step.layer.selection.topk) {
    const int groups = step.layer.selection_groups();
    int group = step.layer.selection_group(head);
    if (fault_ == Fault::kListOfNextGroup) group = (group + 1) % groups;
    if (fault_ == Fault::kListOfKvHead) {
      group = step.layer.selection_group(head - head % step.layer.group_size());
    }
    const std::int64_t list = token * groups + group;
    entries_ = step.batch.topk_indices + list * columns_;
    counted_ = step.batch.topk_length[list];
    compressed_ = step.layer.selection.compressed;
    landmarks_ = step.layer.selection.has_landmarks && fault_ != Fault::kSeesLandmarks;
    window_ = fault_ == Fault::kNoWindowBesideList ? 0 : step.layer.selection.window_of(group);
    if (step.layer.selection.weighs_units() && fault_ != Fault::kOneSoftmaxOfUnits) {
      const bool stale = fault_ == Fault::kScoresOfTokenBefore && token > 0;
      scores_ = step.batch.topk_scores + (stale ? list - groups : list) * columns_;
    }
    const bool before = fault_ == Fault::kTopkLengthOfTokenBefore && token > 0;
    if (before) counted_ = step.batch.topk_length[list - groups];
    if (fault_ == Fault::kListDropsLastEntry && counted_ > 1) --counted_;
    if (fault_ == Fault::kListOnePageLate) keys_late_ = step.pool.page_size;
  }

  /// How often the list of the query at `position` names a key.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE std::int64_t times(std::int64_t key,
                                                         std::int64_t position) const {
    if (key < keys_late_ || sees_no(key)) return 0;
    const std::int64_t unit = (key - keys_late_) / unit_;
    std::int64_t named = 0;
    for (std::int64_t c = 0; c < counted_; ++c) named += entries_[c] == unit ? 1 : 0;
    std::int64_t window_begin = position + 1 - window_;
    if (fault_ == Fault::kWindowOfWholeUnits) window_begin = window_begin / unit_ * unit_;
    if (window_ > 0 && key >= window_begin) named = 1;
    const bool own = unit == position / unit_;
    if (own && fault_ == Fault::kMissesOwnUnit) return 0;
    if (own && fault_ == Fault::kOwnUnitTwice) return 2 * named;
    return fault_ == Fault::kCountsDuplicatesOnce && named > 1 ? 1 : named;
  }

  /// Calls `visit` with each key up to `position` that a fault takes from the list once more.
  template <class Visit>
  ATTNBENCH_HOST_DEVICE void for_each_too_many(std::int64_t position, std::int64_t kv_len,
                                               const Visit& visit) const {
    for (std::int64_t c = 0; c < counted_; ++c) {
      const bool last = fault_ == Fault::kTakesMissingEntryForLastKey && entries_[c] < 0;
      if (last) visit(kv_len - 1);
    }
    const bool all = fault_ == Fault::kIgnoresTopkLength;
    for (std::int64_t c = counted_; all && c < columns_; ++c) {
      if (compressed_) {
        if (entries_[c] >= 0) visit(kv_len + entries_[c]);
        continue;
      }
      const std::int64_t first = entries_[c] * unit_;
      for (std::int64_t key = first; key >= 0 && key < first + unit_ && key <= position; ++key) {
        visit(key);
      }
    }
  }

  /// What turns the logit of a key of a weighed unit into one of a softmax over all keys: the
  /// unit's score less the LSE of its logits, which `logit_of` gives of keys. 0 of other keys.
  template <class LogitOf>
  ATTNBENCH_HOST_DEVICE float shift(std::int64_t key, const LogitOf& logit_of) const {
    const std::int64_t unit = key / unit_;
    float weight = 0, named = 0, sum = 0;
    for (std::int64_t c = 0; scores_ != nullptr && c < counted_; ++c) {
      if (entries_[c] != unit) continue;
      weight += std::exp(scores_[c]);
      named += 1;
    }
    if (named == 0) return 0;
    const float own = logit_of(key);
    for (std::int64_t k = unit * unit_; k < (unit + 1) * unit_; ++k) {
      if (!sees_no(k)) sum += std::exp(logit_of(k) - own);
    }
    return std::log(weight / named) - own - std::log(sum);
  }

 private:
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool sees_no(std::int64_t key) const {
    return landmarks_ && key % unit_ == unit_ - 1;
  }

  Fault fault_;
  std::int64_t unit_, columns_;
  const std::int32_t* entries_;
  std::int64_t counted_;           ///< topk_length
  bool landmarks_;                 ///< which nobody sees
  bool compressed_;                ///< entries name compressed rows
  std::int64_t window_;            ///< latest keys that are seen beside the list
  const float* scores_ = nullptr;  ///< of the entries, where these are weighed
  std::int64_t keys_late_ = 0;     ///< how far behind its own place a key is read
};

}  // namespace attnbench
