// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/gated_delta_net/gated_delta_net.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/common/kv_convert.h"
#include "lib/base/int_math.h"

namespace attnbench::gated_delta_net {

/// Value dims that are carried through all tokens of a request at a time: with 128 key dims their
/// part of the state is 16 KiB and stays in the first cache.
inline constexpr int kColumns = 32;

/// A token as the rule takes it: f32, q and k of a delta net normalised, q times the scale.
struct Token {
  const float* q;      ///< [K]
  const float* k;      ///< [K]
  const float* v;      ///< [kColumns]
  const float* decay;  ///< [K], or one for all
  float beta;
};

/// x / sqrt(sum x^2 + 1e-6) * factor, in place.
inline void normalise(float* x, std::int64_t n, float factor) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t d = 0; d < n; ++d) sum += x[d] * x[d];
  const float by = factor / std::sqrt(sum + 1e-6f);
#pragma omp simd
  for (std::int64_t d = 0; d < n; ++d) x[d] *= by;
}

/// e^g of n log decays.
inline void to_decays(const float* g, std::int64_t n, float* decay) {
  for (std::int64_t d = 0; d < n; ++d) decay[d] = std::exp(g[d]);
}

/// One token over kColumns value dims: updates their part of the state, [K, kColumns], and writes
/// their output. Columns are independent of one another, so those beyond a head's last value dim
/// may hold zeros.
template <bool kDecayOfKeyDims, bool kIsDeltaNet>
inline void step(float* state, std::int64_t dim_k, const Token& token, float* out) {
  float w[kColumns] = {}, sum[kColumns] = {};
  for (std::int64_t d = 0; d < dim_k; ++d) {
    float* const row = state + d * kColumns;
    const float decay = token.decay[kDecayOfKeyDims ? d : 0];
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) {
      row[c] *= decay;
      if constexpr (kIsDeltaNet) w[c] += token.k[d] * row[c];
    }
  }
#pragma omp simd
  for (int c = 0; c < kColumns; ++c) w[c] = token.beta * (token.v[c] - w[c]);
  for (std::int64_t d = 0; d < dim_k; ++d) {
    float* const row = state + d * kColumns;
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) {
      row[c] += token.k[d] * w[c];
      sum[c] += token.q[d] * row[c];
    }
  }
  for (int c = 0; c < kColumns; ++c) out[c] = sum[c];
}

namespace {

/// A block of value dims of one value head of one request.
struct Item {
  std::int64_t request, first_token;
  int head, column;
};

/// What one thread works in, in floats.
struct Room {
  float* q;      ///< [K]
  float* k;      ///< [K]
  float* decay;  ///< [K]
  float* v;      ///< [kColumns]
  float* out;    ///< [kColumns]
  float* state;  ///< [K, kColumns]
};

decltype(&step<false, true>) step_of(const AttentionLayer& layer) {
  if (!layer.is_delta_net()) return &step<false, false>;
  return layer.gate_dims() == 1 ? &step<false, true> : &step<true, true>;
}

class Planned final : public Plan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory)
      : batch_(&batch),
        layer_(batch.problem->layer),
        step_(step_of(layer_)),
        threads_(omp_get_max_threads()) {
    const int blocks = static_cast<int>(ceil_div(layer_.head_dim_v, kColumns));
    std::int64_t first = 0;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      const bool is_padding = batch.state_indices[static_cast<std::size_t>(r)] < 0;
      for (int i = 0; i < layer_.heads_out() * blocks && !is_padding && batch.q_len(r) > 0; ++i) {
        items_.push_back({r, first, i / blocks, i % blocks * kColumns});
      }
      first += batch.q_len(r);
    }
    // The longest first, so that no thread begins it when the others are done.
    std::ranges::stable_sort(items_, std::ranges::greater{},
                             [&](const Item& item) { return batch.q_len(item.request); });
    const std::int64_t floats = layer_.head_dim_qk * (3 + kColumns) + 2 * kColumns;
    room_floats_ = ceil_div(floats, std::int64_t{64}) * 64;
    const auto bytes = static_cast<std::size_t>(threads_ * room_floats_) * sizeof(float);
    scratch_ = static_cast<float*>(static_cast<void*>(memory.reserve(bytes)));
  }

  void run(Stream&) override {
    const auto items = static_cast<std::int64_t>(items_.size());
#pragma omp parallel num_threads(threads_)
    {
      const Room room = room_of(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t i = 0; i < items; ++i) run_item(items_[static_cast<std::size_t>(i)], room);
    }
  }

 private:
  [[nodiscard]] Room room_of(int thread) const {
    float* const q = scratch_ + thread * room_floats_;
    float* const k = q + layer_.head_dim_qk;
    float* const decay = k + layer_.head_dim_qk;
    float* const v = decay + layer_.head_dim_qk;
    return {q, k, decay, v, v + kColumns, v + 2 * kColumns};
  }

  void run_item(const Item& item, const Room& room) const {
    const AttentionTensors& io = batch_->tensors;
    const auto r = static_cast<std::size_t>(item.request);
    const std::int64_t dim_k = layer_.head_dim_qk, dim_v = layer_.head_dim_v;
    const int columns = static_cast<int>(std::min<std::int64_t>(kColumns, dim_v - item.column));
    float* const state =
        batch_->state_pool->state(batch_->state_indices[r], item.head) + item.column;
    const bool starts_empty = batch_->has_initial_state[r] == 0;
    const auto row_bytes = static_cast<std::size_t>(columns) * sizeof(float);
    const auto block_floats = static_cast<std::size_t>(dim_k) * kColumns;
    std::memset(room.v, 0, kColumns * sizeof(float));
    std::memset(room.state, 0, block_floats * sizeof(float));
    if (!starts_empty) take(state, row_bytes, room);
    const int key_head = item.head / layer_.group_size();
    const std::int64_t element = size_bytes(io.v_new.dtype);
    for (std::int64_t t = item.first_token; t < item.first_token + batch_->q_len(item.request);
         ++t) {
      if (const std::int64_t parent = parent_of(t, item); parent != t - 1) {
        take(batch_->intermediate_states->state(parent, item.head) + item.column, row_bytes, room);
      }
      widen_row(io.q.dtype, io.q.row(t, key_head), room.q, dim_k);
      widen_row(io.k_new.dtype, io.k_new.row(t, key_head), room.k, dim_k);
      widen_row(io.v_new.dtype, io.v_new.row(t, item.head) + item.column * element, room.v,
                columns);
      prepare(dim_k, room);
      to_decays(static_cast<const float*>(static_cast<const void*>(io.g.row(t, item.head))),
                layer_.gate_dims(), room.decay);
      const Token token{room.q, room.k, room.v, room.decay,
                        load(DType::kF32, io.beta.row(t, item.head))};
      step_(room.state, dim_k, token, room.out);
      if (io.skip != nullptr) {
        for (int c = 0; c < columns; ++c) room.out[c] += io.skip[item.head] * room.v[c];
      }
      std::byte* const out = io.out.row(t, item.head) + item.column * size_bytes(io.out.dtype);
      for (int c = 0; c < columns; ++c) {
        store(io.out.dtype, out + c * size_bytes(io.out.dtype), room.out[c]);
      }
      if (batch_->intermediate_states == nullptr) continue;
      keep(room, row_bytes, batch_->intermediate_states->state(t, item.head) + item.column);
    }
    if (batch_->intermediate_states == nullptr) keep(room, row_bytes, state);
  }

  void prepare(std::int64_t dim_k, const Room& room) const {
    const auto scale = static_cast<float>(layer_.scale);
    if (layer_.is_delta_net()) {
      normalise(room.q, dim_k, scale);
      normalise(room.k, dim_k, 1);
    } else {
      for (std::int64_t d = 0; d < dim_k; ++d) room.q[d] *= scale;
    }
  }

  /// The token whose state token `t` goes on from, of the first token the one before it: in a draft
  /// tree, whose nodes count from its root, another one than the token before.
  [[nodiscard]] std::int64_t parent_of(std::int64_t t, const Item& item) const {
    if (!batch_->spec_info || t == item.first_token) return t - 1;
    return item.first_token + batch_->spec_info->retrieve_parent_token[static_cast<std::size_t>(t)];
  }

  /// The item's part of a state, to go on from.
  void take(const float* from, std::size_t row_bytes, const Room& room) const {
    for (std::int64_t d = 0; d < layer_.head_dim_qk; ++d) {
      std::memcpy(room.state + d * kColumns, from + d * layer_.head_dim_v, row_bytes);
    }
  }

  /// The item's part of the state to where it is to be found after the step.
  void keep(const Room& room, std::size_t row_bytes, float* to) const {
    for (std::int64_t d = 0; d < layer_.head_dim_qk; ++d) {
      std::memcpy(to + d * layer_.head_dim_v, room.state + d * kColumns, row_bytes);
    }
  }

  const ForwardBatch* batch_;
  AttentionLayer layer_;
  decltype(&step<false, true>) step_;
  int threads_;
  std::vector<Item> items_;
  std::int64_t room_floats_ = 0;  ///< of a thread
  float* scratch_ = nullptr;
};

}  // namespace

Support supports_family(const Problem& problem, Family family) {
  if (!problem.layer.is_recurrent()) {
    return Support::no("recurrent layers only: it keeps a state instead of keys and values");
  }
  if (problem.layer.family != family) {
    return Support::no(fmt::format("{} only", words_of(family).layers));
  }
  return Support::yes();
}

BackendInfo gpu_info(Family family) {
  BackendInfo info;
  info.name = fmt::format("{}_cuda", words_of(family).name);
  info.version = "1";
  info.description =
      fmt::format("{} token by token, a warp for eight value dims; f32", words_of(family).rule);
  info.index_format = "state_indices";
  info.only_families = {family};
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no state: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  return info;
}

RecurrentBackend::RecurrentBackend(Family family) : family_(family) {
  info_.name = words_of(family).name;
  info_.version = "1";
  info_.description = fmt::format("{} token by token, blocks of value dims; f32, all threads",
                                  words_of(family).rule);
  info_.index_format = "state_indices";
  info_.only_families = {family};
  info_.device = DeviceKind::kCpu;
}

std::unique_ptr<Plan> RecurrentBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::gated_delta_net
