// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/indexer/labels.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"

namespace attnbench::indexer {
namespace {

constexpr std::int64_t kLabelElementBytes = 2;  // of bf16
constexpr std::int64_t kLabelTileKeys = 128;    // of a thread at a time

using HeavyRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What a thread needs for a tile: the heavy elements of a token's queries, a label, and its
/// products with the queries of a KV head.
struct Room {
  Room(int heads, int channels, int group)
      : queries(heads, channels), label(channels), products(group) {}

  HeavyRows queries;
  Eigen::VectorXf label, products;
};

/// A thread takes a query token with all of its heads and a tile of its keys, each of whose labels
/// it reads once.
class LabelsPlan final : public Plan {
 public:
  explicit LabelsPlan(const ForwardBatch& batch)
      : batch_(&batch), in_(batch.indexer), layer_(batch.problem->layer) {
    std::int64_t token = 0;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      for (const std::int64_t end = token + batch.q_len(r); token < end; ++token) {
        for (std::int64_t key = 0; key < batch.kv_len(r); key += kLabelTileKeys) {
          places_.push_back({r, token, key});
        }
      }
    }
  }

  void run(Stream&) override {
#pragma omp parallel
    {
      Room room(in_->heads, layer_.selection.channels, layer_.group_size());
#pragma omp for schedule(dynamic)
      for (std::size_t i = 0; i < places_.size(); ++i) score(places_[i], room);
    }
  }

 private:
  struct Place {
    std::int64_t request, token, first_key;
  };

  void score(const Place& place, Room& room) const {
    const IndexOutput& logits = batch_->index_outputs->arrays.front();
    const std::int64_t columns = logits.shape[2], lists = logits.shape[1];
    auto* const first = reinterpret_cast<float*>(logits.data) + place.token * lists * columns;
    const std::int64_t end =
        std::min<std::int64_t>(in_->row_lens[place.token], place.first_key + kLabelTileKeys);
    load_queries(place.token, room.queries);
    for (std::int64_t key = place.first_key; key < end; ++key) {
      for (std::int64_t list = 0; list < lists; ++list) {
        first[list * columns + key] = -std::numeric_limits<float>::infinity();
      }
      for (int kv_head = 0; kv_head < layer_.heads_kv; ++kv_head) {
        load_label(place.request, key, kv_head, room.label);
        const int group = layer_.group_size();
        room.products.noalias() =
            room.queries.middleRows(std::int64_t{kv_head} * group, group) * room.label;
        for (int i = 0; i < group; ++i) {
          float& to = first[layer_.selection_group(kv_head * group + i) * columns + key];
          to = std::max(to, static_cast<float>(layer_.scale) * room.products[i]);
        }
      }
    }
  }

  void load_queries(std::int64_t token, HeavyRows& to) const {
    const int channels = layer_.selection.channels;
    for (int head = 0; head < in_->heads; ++head) {
      const std::byte* const q =
          in_->q + (token * in_->heads + head) * IndexerInputs::kDim * kLabelElementBytes;
      const std::int32_t* const heavy = in_->channels + head / layer_.group_size() * channels;
      for (int i = 0; i < channels; ++i) {
        to(head, i) = load(DType::kBF16, q + heavy[i] * kLabelElementBytes);
      }
    }
  }

  void load_label(std::int64_t request, std::int64_t key, int kv_head, Eigen::VectorXf& to) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const std::int64_t size = in_->page_size;
    const std::int64_t page = here.block_table[request * here.block_table_width + key / size];
    const std::int64_t label = (page * size + key % size) * layer_.heads_kv + kv_head;
    const std::byte* const from = in_->cache + label * to.size() * kLabelElementBytes;
    for (std::int64_t i = 0; i < to.size(); ++i) {
      to[i] = load(DType::kBF16, from + i * kLabelElementBytes);
    }
  }

  const ForwardBatch* batch_;
  const IndexerInputs* in_;
  AttentionLayer layer_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Plan> plan_labels(const ForwardBatch& batch) {
  return std::make_unique<LabelsPlan>(batch);
}

}  // namespace attnbench::indexer
