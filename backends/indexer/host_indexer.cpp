// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/indexer/indexer.h"
#include "backends/indexer/labels.h"
#include "backends/indexer/maxima.h"
#include "backends/indexer/representations.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"

namespace attnbench::indexer {
namespace {

constexpr int kDim = IndexerInputs::kDim;
constexpr std::int64_t kTileKeys = 64;

const std::array<float, 256>& e4m3_values() {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> all{};
    for (std::size_t bits = 0; bits < all.size(); ++bits) {
      all[bits] = e4m3_value(static_cast<std::uint8_t>(bits));
    }
    return all;
  }();
  return values;
}

void widen(const std::byte* from, int count, float* to) {
  const std::array<float, 256>& values = e4m3_values();
  for (int i = 0; i < count; ++i) to[i] = values[std::to_integer<std::size_t>(from[i])];
}

/// Rows of kDim elements in f32, one behind the other.
using Rows = Eigen::Matrix<float, Eigen::Dynamic, kDim, Eigen::RowMajor>;

/// A tile of keys, each a row of the cache, and room for a token's queries and its products with
/// the keys.
struct Tile {
  explicit Tile(int heads) : queries(heads, kDim), products(kTileKeys, heads) {}

  Rows keys{kTileKeys, kDim};
  Eigen::VectorXf scales{kTileKeys};
  Rows queries;
  Eigen::MatrixXf products;
  Eigen::VectorXf logits{kTileKeys};

  /// scale * sum over heads of weight * max(0, q . k).
  void score(const float* weights) {
    products.noalias() = keys * queries.transpose();
    logits.noalias() =
        products.cwiseMax(0.0f) * Eigen::Map<const Eigen::VectorXf>(weights, queries.rows());
    logits.array() *= scales.array();
  }
};

/// The batch's tensors lie where the host reads them. A thread takes the tiles of a request's keys,
/// each with all of the request's queries.
class HostPlan final : public Plan {
 public:
  explicit HostPlan(const ForwardBatch& batch) : batch_(&batch), in_(batch.indexer) {
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      for (std::int64_t key = 0; key < keys_of(r); key += kTileKeys) tiles_.push_back({r, key});
    }
  }

  void run(Stream&) override {
#pragma omp parallel
    {
      Tile tile(in_->heads);
#pragma omp for schedule(dynamic)
      for (std::size_t i = 0; i < tiles_.size(); ++i) score(tiles_[i], tile);
    }
  }

 private:
  struct Place {
    std::int64_t request, first_key;
  };

  [[nodiscard]] std::int64_t keys_of(std::int64_t request) const {
    return batch_->problem->layer.selection.complete_pools(batch_->kv_len(request));
  }

  void score(const Place& place, Tile& tile) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const IndexOutput& logits = batch_->index_outputs->arrays.front();
    load(place, tile);
    for (std::int64_t t = here.qo_indptr[place.request]; t < here.qo_indptr[place.request + 1];
         ++t) {
      const std::int64_t keys = std::min(in_->row_lens[t] - place.first_key, kTileKeys);
      if (keys <= 0) continue;
      widen(in_->q + t * in_->heads * kDim, in_->heads * kDim, tile.queries.data());
      tile.score(in_->weights + t * in_->heads);
      std::memcpy(logits.data + t * logits.shape[2] + place.first_key, tile.logits.data(),
                  to_size(keys) * sizeof(float));
    }
  }

  /// Zeros behind the request's last key.
  void load(const Place& place, Tile& tile) const {
    const std::int64_t keys = std::min(keys_of(place.request) - place.first_key, kTileKeys);
    tile.keys.setZero();
    tile.scales.setZero();
    for (std::int64_t i = 0; i < keys; ++i) {
      load_key(place.request, place.first_key + i, tile.keys.row(i).data(), tile.scales[i]);
    }
  }

  void load_key(std::int64_t request, std::int64_t key, float* row, float& scale) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const std::int64_t size = in_->page_size, offset = key % size;
    const std::int64_t page = here.block_table[request * here.block_table_width + key / size];
    const std::byte* const from = in_->cache + page * size * IndexerInputs::kKeyBytes;
    widen(from + offset * kDim, kDim, row);
    constexpr std::int64_t kScaleBytes = sizeof(float);
    std::memcpy(&scale, from + size * kDim + offset * kScaleBytes, sizeof scale);
  }

  const ForwardBatch* batch_;
  const IndexerInputs* in_;
  std::vector<Place> tiles_;
};

}  // namespace

std::unique_ptr<Plan> HostIndexer::plan(const ForwardBatch& batch, PlanMemory&) {
  const Selection& selection = batch.problem->layer.selection;
  if (selection.takes_maxima()) return plan_maxima(batch);
  if (selection.scores_representations()) return plan_representations(batch);
  if (selection.scores_labels()) return plan_labels(batch);
  return std::make_unique<HostPlan>(batch);
}

}  // namespace attnbench::indexer
