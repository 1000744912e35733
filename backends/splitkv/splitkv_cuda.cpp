// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/common/cuda/chosen_rows.h"
#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/kernel_support.h"
#include "backends/common/upload.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "backends/splitkv/splitkv.h"
#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"

namespace attnbench::splitkv {

/// One launch of a splitkv kernel over a work list in GPU memory. Where it is recorded, the memory
/// and the grid have room for the most work that a step within the problem's limits can have.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, SplitRule rule, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Lays `memory` out for `room` and the batch's index arrays.
  void lay_out(const tiles::Room& room, const ForwardBatch& batch, PlanMemory& memory);
  /// Copies `plan` to where there is room for it, empty items behind it, and finds the slots.
  void enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream);

  SplitRule rule_;
  int multiprocessors_;
  Kernel kernel_;
  Params params_;
  std::byte* counters_ = nullptr;  ///< in device memory; items follow
  std::int64_t num_counters_ = 0;
  bool has_lists_ = false;
  TokenSlots slots_;   ///< unless there are lists
  ChosenRows chosen_;  ///< where there are
  DraftTree tree_;
};

Planned::Planned(const ForwardBatch& batch, SplitRule rule, PlanMemory& memory)
    : StepPlan(batch), rule_(rule), multiprocessors_(memory.device().info().units) {
  WorkPlan plan = plan_work(batch, problem().layer, rule_, multiprocessors_);
  tiles::Room room = plan.room();
  if (problem().recorded) {
    room = room_for(uniform_batches(problem()), problem().layer, rule_, multiprocessors_);
  }
  lay_out(room, batch, memory);
  set_tensors(params_, batch);
  tree_.arrays(batch).set_in(params_);
  kernel_ = kernel_for(problem(), plan.many_rows);
  prepare(kernel_);
  enqueue(std::move(plan), batch, nullptr);
  finish_planning();
}

void Planned::lay_out(const tiles::Room& room, const ForwardBatch& batch, PlanMemory& memory) {
  const AttentionLayer& layer = problem().layer;
  num_counters_ = room.tiles * layer.heads_kv;
  const std::int64_t partials = narrow_i32(room.partials * layer.heads_kv);
  DeviceRoom device;
  const auto counters = device.add<std::int32_t>(num_counters_);
  const auto items = device.add<Item>(room.items);
  has_lists_ = layer.selection.exists();
  if (has_lists_) {
    chosen_ = ChosenRows(batch, slot_numbers(*batch.token_to_kv_pool), device);
  } else {
    slots_ = TokenSlots(batch, device);
  }
  const PartialResults results(partials * room.partial_rows, layer.head_dim_v, device);
  tree_ = DraftTree(problem(), device);

  std::byte* const at = memory.reserve(device.bytes());
  if (has_lists_) {
    chosen_.place(at);
    chosen_.set_in(params_);
    params_.kv_indices = chosen_.rows();
  } else {
    slots_.place(at);
    params_.kv_indices = slots_.kv_indices();
  }
  tree_.place(at);
  results.set_in(params_, at);
  counters_ = at + counters.offset;
  params_.items = items.in(at);
  params_.num_items = narrow_i32(room.items);
  params_.tiles = narrow_i32(room.tiles);
  params_.partials = narrow_i32(room.partials);
  params_.partial_rows = room.partial_rows;
  params_.counters = counters.in(at);
}

void Planned::enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream) {
  expects(tiles::fits(plan.room(),
                      {params_.num_items, params_.tiles, params_.partials, params_.partial_rows}),
          "a plan larger than its memory");
  expects(plan.items.empty() || plan.many_rows == kernel_.many_rows,
          "a plan for another kernel than the one that runs");
  plan.items.resize(static_cast<std::size_t>(params_.num_items));  // an empty item has no rows
  Upload upload;                                                   // as laid out
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(num_counters_), 0));
  upload.add(plan.items);
  enqueue_upload(upload, counters_, stream);
  has_lists_ ? chosen_.enqueue(batch, stream) : slots_.enqueue(batch, stream);
  tree_.enqueue(batch, stream);
}

void Planned::run(Stream& stream) {
  if (params_.num_items == 0) return;
  if (has_lists_) chosen_.launch(stream.native());
  launch(kernel_, params_, stream.native());
}

void Planned::enqueue_step(const ForwardBatch& batch, void* stream) {
  enqueue(plan_work(batch, problem().layer, rule_, multiprocessors_), batch, stream);
}

SplitKvBackend::SplitKvBackend(SplitRule rule) : info_(splitkv::info(rule)), rule_(rule) {}

// Tensor cores take q and k as they are stored, fp8 widened to the type of the activations, which
// holds it: no operand is rounded. Weights are packed in that type; all else is f32.
Numerics SplitKvBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support SplitKvBackend::supports(const Problem& problem) const {
  return supports_key_value_heads(problem,
                                  kKernelFeatures | Features{Feature::kAlibi, Feature::kSelection},
                                  has_kernel(kernel_for(problem, false)));
}

std::vector<KvLayout> SplitKvBackend::formats(const Problem& problem) const {
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> SplitKvBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, rule_, memory);
}

void set_tensors(Params& params, const ForwardBatch& batch) {
  set_attention_params(params, batch);
  const KvPool& pool = *batch.token_to_kv_pool;
  expects(pool.num_pages * std::max(params.k_page_stride, params.v_page_stride) < kReachOfRows,
          "K or V of one layer has 64 GiB or more: rows are found by 32 bits of 16 bytes each");
  if (params.k_page_stride == pool.page_size * params.k_token_stride &&
      params.v_page_stride == pool.page_size * params.v_token_stride) {
    // Tokens follow each other evenly: a slot needs no division.
    params.page_size = 1;
    params.page_shift = 0;
    params.k_page_stride = params.k_token_stride;
    params.v_page_stride = params.v_token_stride;
  }
}

}  // namespace attnbench::splitkv
