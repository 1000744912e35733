// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/indexer/representations.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"

namespace attnbench::indexer {
namespace {

constexpr int kElements = IndexerInputs::kDim;
constexpr std::int64_t kUnitRowBytes = kElements * 2;  // of bf16
constexpr float kStale = -std::numeric_limits<float>::infinity();

using WideRow = Eigen::Array<float, 1, kElements>;

WideRow wide_row(const std::byte* from) {
  WideRow row;
  for (int i = 0; i < kElements; ++i) row[i] = load(DType::kBF16, from + i * 2);
  return row;
}

/// A thread takes a query token with a group of its heads, and all units that it sees.
class RepresentationsPlan final : public Plan {
 public:
  explicit RepresentationsPlan(const ForwardBatch& batch)
      : batch_(&batch),
        in_(batch.indexer),
        rule_(batch.problem->layer.selection),
        groups_(batch.problem->layer.selection_groups()),
        scale_(static_cast<float>(batch.problem->layer.scale)) {
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      requests_.insert(requests_.end(), to_size(batch.q_len(r)), r);
    }
  }

  void run(Stream&) override {
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < std::ssize(requests_) * groups_; ++i) {
      score(i / groups_, i % groups_);
    }
  }

 private:
  void score(std::int64_t token, std::int64_t group) const {
    const std::int64_t heads = in_->heads / groups_;
    std::vector<WideRow> queries;
    for (std::int64_t head = group * heads; head < (group + 1) * heads; ++head) {
      const WideRow query = wide_row(in_->q + (token * in_->heads + head) * kUnitRowBytes);
      if (rule_.score == SelectionScore::kGroup && !queries.empty()) {
        queries[0] += query;
      } else {
        queries.push_back(query);
      }
    }
    const IndexOutput& logits = batch_->index_outputs->arrays.front();
    float* const to =
        reinterpret_cast<float*>(logits.data) + (token * groups_ + group) * logits.shape[2];
    for (std::int64_t unit = 0; unit < in_->row_lens[token]; ++unit) {
      to[unit] = score_of(queries, requests_[to_size(token)], unit, group);
    }
  }

  [[nodiscard]] float score_of(const std::vector<WideRow>& queries, std::int64_t request,
                               std::int64_t unit, std::int64_t group) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const std::int64_t size = in_->page_size;
    const std::int64_t page = here.block_table[request * here.block_table_width + unit / size];
    const std::int64_t at = page * size + unit % size;
    if (in_->unit_versions[at] != in_->row_versions[at]) return kStale;
    const std::byte* const from =
        in_->cache + (at * groups_ + group) * rule_.rows_of_unit() * kUnitRowBytes;
    const WideRow low = wide_row(from);
    const WideRow high = rule_.rows_of_unit() == 2 ? wide_row(from + kUnitRowBytes) : low;
    float largest = kStale;
    for (const WideRow& query : queries) {
      largest = std::max(largest, (query * low).max(query * high).sum());
    }
    return scale_ * largest;
  }

  const ForwardBatch* batch_;
  const IndexerInputs* in_;
  Selection rule_;
  std::int64_t groups_;
  float scale_;
  std::vector<std::int64_t> requests_;  ///< of query tokens
};

}  // namespace

std::unique_ptr<Plan> plan_representations(const ForwardBatch& batch) {
  return std::make_unique<RepresentationsPlan>(batch);
}

}  // namespace attnbench::indexer
