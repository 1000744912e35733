// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/delta_net_mutant.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/base/int_math.h"

namespace attnbench {
namespace {

/// One value head of one request.
class DeltaNetRun {
 public:
  DeltaNetRun(Fault fault, const ForwardBatch& batch, std::int64_t request, int head)
      : fault_(fault),
        batch_(&batch),
        layer_(&batch.problem->layer),
        request_(to_size(request)),
        head_(head),
        key_head_(head / layer_->group_size()),
        state_(to_size(std::int64_t{layer_->head_dim_qk} * layer_->head_dim_v)) {
    if (fault == Fault::kDeltaNetKeyHeadOffByOne) key_head_ = (key_head_ + 1) % layer_->heads_k();
  }

  void run(std::int64_t first_token) {
    bool has_state = batch_->has_initial_state[request_] != 0;
    if (fault_ == Fault::kDeltaNetIgnoresInitialState) has_state = false;
    if (fault_ == Fault::kDeltaNetKeepsStaleState) has_state = true;
    float* const slot = batch_->state_pool->state(batch_->state_indices[request_], head_);
    if (has_state) std::copy_n(slot, state_.size(), state_.begin());
    const std::int64_t tokens = batch_->q_len(static_cast<std::int64_t>(request_));
    const StatePool* const intermediate = batch_->intermediate_states;
    for (std::int64_t t = first_token; t < first_token + tokens; ++t) {
      go_on_from_parent(t, first_token);
      const bool too_early = fault_ == Fault::kDeltaNetStateBeforeDraft;
      if (intermediate != nullptr && too_early) keep(intermediate->state(t, head_));
      step(t);
      if (intermediate != nullptr && !too_early) keep(intermediate->state(t, head_));
    }
    if (fault_ == Fault::kDeltaNetStateNotWritten || tokens == 0) return;
    if (intermediate != nullptr && fault_ != Fault::kDeltaNetVerifyCommits) return;
    keep(state_to_write());
  }

 private:
  /// The state behind the parent of node `t` of a draft tree, which has been kept.
  void go_on_from_parent(std::int64_t t, std::int64_t root) {
    if (!batch_->spec_info || t == root || fault_ == Fault::kDeltaNetTreeIsAChain) return;
    const std::int64_t parent = root + batch_->spec_info->retrieve_parent_token[to_size(t)];
    if (parent == t - 1) return;
    std::copy_n(batch_->intermediate_states->state(parent, head_), state_.size(), state_.begin());
  }

  void keep(float* to) const { std::copy_n(state_.begin(), state_.size(), to); }

  [[nodiscard]] float* state_to_write() const {
    std::int64_t slot = batch_->state_indices[request_];
    if (fault_ == Fault::kDeltaNetStateInAnotherSlot) {
      slot = slot + 1 < batch_->state_pool->slots ? slot + 1 : 0;
    }
    return batch_->state_pool->state(slot, head_);
  }

  [[nodiscard]] std::vector<float> normalised(const ConstTensorView& view, std::int64_t t) const {
    std::vector<float> x(to_size(view.shape[2]));
    float squares = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
      x[d] = load(view.dtype,
                  view.row(t, key_head_) + static_cast<std::int64_t>(d) * size_bytes(view.dtype));
      squares += x[d] * x[d];
    }
    if (fault_ == Fault::kDeltaNetNoNorm) return x;
    const float eps = fault_ == Fault::kDeltaNetNoEps ? 0.0f : 1e-6f;
    const float norm = std::sqrt(squares + eps);
    for (float& value : x) value /= norm;
    return x;
  }

  void update(const std::vector<float>& k, std::int64_t t, float decay, float beta) {
    const auto columns = to_size(layer_->head_dim_v);
    const ConstTensorView& v = batch_->tensors.v_new;
    for (std::size_t c = 0; c < columns; ++c) {
      float seen = 0;
      for (std::size_t d = 0; d < k.size(); ++d) {
        state_[d * columns + c] *= decay;
        seen += k[d] * state_[d * columns + c];
      }
      const float value =
          load(v.dtype, v.row(t, head_) + static_cast<std::int64_t>(c) * size_bytes(v.dtype));
      const float w = beta * (value - seen);
      for (std::size_t d = 0; d < k.size(); ++d) {
        float& element = state_[d * columns + c];
        element += k[d] * w;
        if (fault_ == Fault::kDeltaNetStateInBf16) element = rounded(DType::kBF16, element);
      }
    }
  }

  void write_out(const std::vector<float>& q, std::int64_t t) const {
    const TensorView& out = batch_->tensors.out;
    const auto columns = to_size(layer_->head_dim_v);
    for (std::size_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (std::size_t d = 0; d < q.size(); ++d) sum += q[d] * state_[d * columns + c];
      store(out.dtype, out.row(t, head_) + static_cast<std::int64_t>(c) * size_bytes(out.dtype),
            sum * static_cast<float>(layer_->scale));
    }
  }

  void step(std::int64_t t) {
    const AttentionTensors& io = batch_->tensors;
    const std::vector<float> q = normalised(io.q, t), k = normalised(io.k_new, t);
    const float g = load(DType::kF32, io.g.row(t, head_));
    const float decay = fault_ == Fault::kDeltaNetIgnoresDecay ? 1.0f : std::exp(g);
    const float beta =
        fault_ == Fault::kDeltaNetIgnoresBeta ? 1.0f : load(DType::kF32, io.beta.row(t, head_));
    if (fault_ == Fault::kDeltaNetOutputBeforeUpdate) write_out(q, t);
    update(k, t, decay, beta);
    if (fault_ == Fault::kDeltaNetUpdatesTwice) update(k, t, decay, beta);
    if (fault_ != Fault::kDeltaNetOutputBeforeUpdate) write_out(q, t);
  }

  Fault fault_;
  const ForwardBatch* batch_;
  const AttentionLayer* layer_;
  std::size_t request_;
  int head_, key_head_;
  std::vector<float> state_;
};

class PlannedDeltaNetMutant final : public Plan {
 public:
  PlannedDeltaNetMutant(Fault fault, const ForwardBatch& batch) : fault_(fault), batch_(&batch) {}

  void run(Stream&) override {
    std::int64_t first = 0;
    for (std::int64_t r = 0; r < batch_->batch_size; ++r) {
      const bool is_padding = batch_->state_indices[to_size(r)] < 0;
      for (int head = 0; head < batch_->problem->layer.heads_out() && !is_padding; ++head) {
        DeltaNetRun(fault_, *batch_, r, head).run(first);
      }
      first += batch_->q_len(r);
    }
  }

 private:
  Fault fault_;
  const ForwardBatch* batch_;
};

}  // namespace

std::unique_ptr<Plan> plan_delta_net_mutant(Fault fault, const ForwardBatch& batch) {
  return std::make_unique<PlannedDeltaNetMutant>(fault, batch);
}

}  // namespace attnbench
