// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/mutant_backend.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/graph_padding.h"
#include "lib/selftest/fault.h"
#include "lib/selftest/mutant_row.h"

namespace attnbench {

/// MutantBackend's plan for a recurrent layer, on a CPU: token by token, correct but for the fault.
/// Faults of other families change nothing.
[[nodiscard]] std::unique_ptr<Plan> plan_delta_net_mutant(Fault fault, const ForwardBatch& batch);

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
    if (layer_->is_delta_net() == (fault_ == Fault::kDeltaNetNoNorm)) return x;
    const float eps = fault_ == Fault::kDeltaNetNoEps ? 0.0f : 1e-6f;
    const float norm = std::sqrt(squares + eps);
    for (float& value : x) value /= norm;
    return x;
  }

  /// By key dim.
  [[nodiscard]] std::vector<float> decays(std::int64_t t) const {
    const ConstTensorView& g = batch_->tensors.g;
    std::vector<float> decay(to_size(layer_->head_dim_qk), 1);
    if (fault_ == Fault::kDeltaNetIgnoresDecay) return decay;
    const std::int64_t next = fault_ == Fault::kDeltaNetDecayOfNextKeyDim ? 1 : 0;
    for (std::size_t d = 0; d < decay.size(); ++d) {
      const std::int64_t from = (static_cast<std::int64_t>(d) + next) % g.shape[2];
      decay[d] = std::exp(load(g.dtype, g.row(t, head_) + from * size_bytes(g.dtype)));
    }
    return decay;
  }

  void update(const std::vector<float>& k, std::int64_t t, const std::vector<float>& decay,
              float beta) {
    const auto columns = to_size(layer_->head_dim_v);
    const ConstTensorView& v = batch_->tensors.v_new;
    for (std::size_t c = 0; c < columns; ++c) {
      float seen = 0;
      for (std::size_t d = 0; d < k.size(); ++d) {
        state_[d * columns + c] *= decay[d];
        seen += k[d] * state_[d * columns + c];
      }
      const float value =
          load(v.dtype, v.row(t, head_) + static_cast<std::int64_t>(c) * size_bytes(v.dtype));
      const float w = beta * (layer_->is_delta_net() ? value - seen : value);
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
    const float* const skip = batch_->tensors.skip;
    const bool skips = skip != nullptr && fault_ != Fault::kDeltaNetNoSkip;
    const float factor = skips ? skip[head_] : 0.0f;
    const ConstTensorView& v = batch_->tensors.v_new;
    for (std::size_t c = 0; c < columns; ++c) {
      const float value =
          load(v.dtype, v.row(t, head_) + static_cast<std::int64_t>(c) * size_bytes(v.dtype));
      float sum = 0;
      for (std::size_t d = 0; d < q.size(); ++d) sum += q[d] * state_[d * columns + c];
      store(out.dtype, out.row(t, head_) + static_cast<std::int64_t>(c) * size_bytes(out.dtype),
            sum * static_cast<float>(layer_->scale) + factor * value);
    }
  }

  void step(std::int64_t t) {
    const AttentionTensors& io = batch_->tensors;
    const std::vector<float> q = normalised(io.q, t), k = normalised(io.k_new, t);
    const std::vector<float> decay = decays(t);
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

namespace {

// Of what lies in a plan's memory, behind the count of runs; aligned.
constexpr std::size_t kStepOffset = 256;
constexpr std::size_t kSumsOffset = 256 + (sizeof(MutantStep) + 255) / 256 * 256;

void run_on_host(const MutantStep& step) {
  if (step.fault == Fault::kThrows) throw std::runtime_error("no kernel for this");
  for (std::int64_t row = 0; row < step.rows(); ++row) MutantRow(step, row).run();
}

class PlannedMutant final : public Plan {
 public:
  PlannedMutant(Fault fault, DeviceKind device, const ForwardBatch& batch, PlanMemory& memory)
      : fault_(fault), device_(device) {
    const AttentionLayer& layer = batch.problem->layer;
    const std::int64_t sums = batch.q_tokens() * layer.heads_q * layer.head_dim_v;
    scratch_ = memory.reserve(kSumsOffset + static_cast<std::size_t>(sums) * sizeof(float));
    step_ = step_of(batch);
    if (device_ == DeviceKind::kCpu) return;
    memory.device().copy_from_host(scratch_ + kStepOffset, &step_, sizeof step_);
  }

  void run(Stream& stream) override {
    if (device_ == DeviceKind::kCpu) return run_on_host(step_);
    launch_mutant(step_, scratch_ + kStepOffset, stream);
  }

  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    if (device_ == DeviceKind::kCpu) return false;
    step_ = step_of(batch);
    enqueue_step(step_, scratch_ + kStepOffset, stream);
    return true;
  }

 private:
  [[nodiscard]] MutantStep step_of(const ForwardBatch& batch) const;

  Fault fault_;
  DeviceKind device_;
  MutantStep step_;
  std::byte* scratch_ = nullptr;  ///< the count of runs, a GPU's step, the sums
};

MutantStep PlannedMutant::step_of(const ForwardBatch& batch) const {
  MutantStep step;
  step.fault = fault_;
  step.layer = batch.problem->layer;
  step.batch = device_batch_of(batch);
  step.pool = *batch.token_to_kv_pool;
  if (fault_ == Fault::kIgnoresPageStride) {  // of NHD, which all of its cases have
    step.pool.page_stride_k = step.pool.page_size * step.pool.token_stride_k;
    step.pool.page_stride_v = step.pool.page_size * step.pool.token_stride_v;
  }
  step.tokens = tokens_of_requests(batch);
  step.q = batch.tensors.q;
  step.sinks = batch.tensors.sinks;
  step.out = batch.tensors.out;
  step.lse = batch.tensors.lse;
  // Memory of a Device, aligned for any type.
  step.runs = static_cast<std::uint32_t*>(static_cast<void*>(scratch_));
  step.sums = static_cast<float*>(static_cast<void*>(scratch_ + kSumsOffset));
  return step;
}

}  // namespace

MutantBackend::MutantBackend(Fault fault, DeviceKind device) : fault_(fault) {
  info_.name = "mutant";
  info_.version = "1";
  info_.description = to_string(fault);
  info_.index_format = "req_to_token";
  info_.device = device;
}

Numerics MutantBackend::numerics(const Problem& problem) const {
  switch (fault_) {
    case Fault::kLongSplitDropsAKey:
    case Fault::kLongSplitRoundsWeights:
    case Fault::kWeightsInF16:
    case Fault::kWeightsInBf16:
    case Fault::kWeightsInE4m3:
      return {.p = problem.dtype};  // as tensor cores take them: the bounds widen accordingly
    default:
      return {};
  }
}

std::unique_ptr<Plan> MutantBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.problem->layer.is_recurrent()) return plan_delta_net_mutant(fault_, batch);
  return std::make_unique<PlannedMutant>(fault_, info_.device, batch, memory);
}

}  // namespace attnbench
