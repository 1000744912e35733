// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/indexer/maxima.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_scores.h"

namespace attnbench::indexer {
namespace {

constexpr std::int64_t kRowBytes = IndexerInputs::kDim * 2;  // of bf16

using Rows = Eigen::Matrix<float, Eigen::Dynamic, IndexerInputs::kDim, Eigen::RowMajor>;

void widen(const std::byte* from, float* to) {
  for (int i = 0; i < IndexerInputs::kDim; ++i) to[i] = load(DType::kBF16, from + i * 2);
}

/// A thread takes units of a request's keys, each with all of the request's queries.
class MaximaPlan final : public Plan {
 public:
  explicit MaximaPlan(const ForwardBatch& batch)
      : batch_(&batch), in_(batch.indexer), unit_(batch.problem->layer.selection.unit) {
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      for (std::int64_t unit = 0; unit < ceil_div(batch.kv_len(r), unit_); ++unit) {
        if (batch.q_len(r) > 0) places_.push_back({r, unit});
      }
    }
  }

  void run(Stream&) override {
#pragma omp parallel
    {
      Rows keys(unit_, IndexerInputs::kDim);
      Rows queries(in_->heads, IndexerInputs::kDim);
      Eigen::MatrixXf products(unit_, in_->heads);
#pragma omp for schedule(dynamic)
      for (std::size_t i = 0; i < places_.size(); ++i) {
        score(places_[i], keys, queries, products);
      }
    }
  }

 private:
  struct Place {
    std::int64_t request, unit;
  };

  void score(const Place& place, Rows& keys, Rows& queries, Eigen::MatrixXf& products) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const IndexOutput& logits = batch_->index_outputs->arrays.front();
    load_keys(place, keys);
    for (std::int64_t t = here.qo_indptr[place.request]; t < here.qo_indptr[place.request + 1];
         ++t) {
      const std::int64_t units = in_->row_lens[t];
      if (place.unit >= units) continue;
      float* const first =
          reinterpret_cast<float*>(logits.data) + t * in_->heads * logits.shape[2] + place.unit;
      if (place.unit + 1 == units) {  // the query's own
        for (int head = 0; head < in_->heads; ++head) {
          first[head * logits.shape[2]] = kOwnUnitScore;
        }
        continue;
      }
      for (int head = 0; head < in_->heads; ++head) {
        widen(in_->q + (t * in_->heads + head) * kRowBytes, queries.row(head).data());
      }
      products.noalias() = keys * queries.transpose();
      for (int head = 0; head < in_->heads; ++head) {
        first[head * logits.shape[2]] = products.col(head).maxCoeff();
      }
    }
  }

  /// A unit that is not complete gives the keys that are there: all its queries are in it.
  void load_keys(const Place& place, Rows& keys) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const std::int64_t first = place.unit * unit_, size = in_->page_size;
    const std::int64_t end = std::min(first + unit_, batch_->kv_len(place.request));
    for (std::int64_t key = first; key < end; ++key) {
      const std::int64_t page =
          here.block_table[place.request * here.block_table_width + key / size];
      widen(in_->cache + (page * size + key % size) * kRowBytes, keys.row(key - first).data());
    }
  }

  const ForwardBatch* batch_;
  const IndexerInputs* in_;
  std::int64_t unit_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Plan> plan_maxima(const ForwardBatch& batch) {
  return std::make_unique<MaximaPlan>(batch);
}

}  // namespace attnbench::indexer
