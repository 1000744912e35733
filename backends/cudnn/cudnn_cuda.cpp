// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/upload.h"
#include "backends/cudnn/attention_graph.h"
#include "backends/cudnn/cudnn.h"
#include "backends/cudnn/execution_plan.h"
#include "backends/cudnn/library.h"
#include "backends/cudnn/shape.h"
#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"

namespace attnbench::cudnn {

/// One of cuDNN's plans, bound to a step: lengths, ragged offsets and page table lie in the plan's
/// memory, where an update of a recorded step overwrites them.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory, PlanCache& plans);

  void run(Stream& stream) override;
  [[nodiscard]] std::string kernel() const override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  [[nodiscard]] Addresses addresses_of(const ForwardBatch& batch) const;

  AttentionShape shape_;
  std::shared_ptr<const ExecutionPlan> plan_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  ArrayPlace<std::int32_t> q_lens_, kv_lens_;
  ArrayPlace<std::int64_t> ragged_q_, ragged_k_, ragged_v_, ragged_out_, ragged_lse_;
  StepPageTable page_table_;
  // Numbers, which cuDNN reads from host memory at each run.
  float scale_ = 1, value_scale_ = 1, masked_ = 0;
  std::int32_t keys_before_ = 0, keys_ahead_ = 0;
  std::optional<Descriptor> bound_;
};

namespace {

/// Pages of an entry that has none: cuDNN reads a table's entries behind a request's keys, too, and
/// uses nothing of what they name. Page 0 exists always.
constexpr std::int32_t kNoPage = 0;

/// Where each request's rows begin, and all end, in elements.
std::vector<std::int64_t> ragged_offsets(const ForwardBatch& batch, std::int64_t token_stride) {
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    offsets.push_back(offsets.back() + batch.q_len(r) * token_stride);
  }
  return offsets;
}

}  // namespace

Planned::Planned(const ForwardBatch& batch, PlanMemory& memory, PlanCache& plans)
    : StepPlan(batch), shape_(shape_of(batch)), plan_(plans.plan_of(shape_)) {
  DeviceRoom device;
  q_lens_ = device.add<std::int32_t>(shape_.requests);
  kv_lens_ = device.add<std::int32_t>(shape_.requests);
  if (shape_.ragged) {
    for (auto* offsets : {&ragged_q_, &ragged_out_, &ragged_lse_, &ragged_k_, &ragged_v_}) {
      *offsets = device.add<std::int64_t>(shape_.requests + 1);
    }
  }
  if (shape_.paged()) page_table_ = StepPageTable(batch, device, kNoPage);
  const auto workspace = device.add<std::byte>(static_cast<std::int64_t>(plan_->workspace_bytes()));
  memory_ = memory.reserve(device.bytes());
  page_table_.place(memory_);

  const AttentionLayer& layer = problem().layer;
  const KvPool& pool = *batch.token_to_kv_pool;
  scale_ = static_cast<float>(layer.scale) * pool.k_scale;
  value_scale_ = pool.v_scale;
  masked_ = -std::numeric_limits<float>::infinity();
  if (shape_.hides_before) {
    keys_before_ = narrow_i32(layer.sliding_window_size + 1);
    keys_ahead_ = keys_before_ - 1;
  }
  bound_.emplace(plan_->bind(addresses_of(batch), workspace.in(memory_)));
  enqueue_step(batch, nullptr);
  finish_planning();
}

Addresses Planned::addresses_of(const ForwardBatch& batch) const {
  const AttentionTensors& tensors = batch.tensors;
  const KvPool& pool = *batch.token_to_kv_pool;
  Addresses at{{kQ, tensors.q.data},
               {kK, tensors.k_new.data},
               {kV, tensors.v_new.data},
               {kOut, tensors.out.data},
               {kLse, tensors.lse.data},
               {kQLens, q_lens_.in(memory_)},
               {kKvLens, kv_lens_.in(memory_)},
               {kScale, &scale_},
               {kMasked, &masked_}};
  if (shape_.paged()) {
    at[kK] = pool.k;
    at[kV] = pool.v;
    at[kPageTableOfK] = at[kPageTableOfV] = page_table_.pages();
  }
  if (shape_.ragged) {
    at[kRaggedQ] = ragged_q_.in(memory_);
    at[kRaggedOut] = ragged_out_.in(memory_);
    at[kRaggedLse] = ragged_lse_.in(memory_);
    if (!shape_.paged()) {
      at[kRaggedK] = ragged_k_.in(memory_);
      at[kRaggedV] = ragged_v_.in(memory_);
    }
  }
  if (shape_.sinks) at[kSinks] = tensors.sinks;
  if (shape_.scales_values) at[kValueScale] = &value_scale_;
  if (shape_.hides_before) at[kKeysBefore] = &keys_before_;
  if (shape_.sees_ahead) at[kKeysAhead] = &keys_ahead_;
  return at;
}

void Planned::enqueue_step(const ForwardBatch& batch, void* stream) {
  expects(batch.batch_size == shape_.requests, "a step with fewer requests than the recorded one");
  std::vector<std::int32_t> q_lens, kv_lens;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    q_lens.push_back(narrow_i32(batch.q_len(r)));
    // A request that fills up a batch has no key where the engine says so, but page 0.
    kv_lens.push_back(narrow_i32(std::max<std::int64_t>(1, batch.kv_len(r))));
  }
  Upload upload;  // as laid out
  upload.add(q_lens);
  upload.add(kv_lens);
  if (shape_.ragged) {
    for (const RowStrides& rows : {shape_.q, shape_.out, shape_.lse, shape_.k.row, shape_.v.row}) {
      upload.add(ragged_offsets(batch, rows.token));
    }
  }
  enqueue_upload(upload, memory_, stream);
  if (shape_.paged()) page_table_.enqueue(batch, stream);
}

std::string Planned::kernel() const { return fmt::format("engine {}", plan_->engine()); }

void Planned::run(Stream& stream) { plan_->run(*bound_, stream.native()); }

std::string absence() {
  try {
    static_cast<void>(library());
    return {};
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

CudnnBackend::CudnnBackend() : info_(cudnn::info()), plans_(std::make_unique<PlanCache>()) {
  info_.packages = package();
  info_.kernel = "scaled dot product attention, as an operation graph";
}

CudnnBackend::~CudnnBackend() = default;

Support CudnnBackend::supports(const Problem& problem) const { return cudnn::supports(problem); }

// Weights are rounded for the second product; all else is f32.
Numerics CudnnBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

std::unique_ptr<Plan> CudnnBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory, *plans_);
}

}  // namespace attnbench::cudnn
