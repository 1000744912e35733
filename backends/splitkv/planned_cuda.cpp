// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "backends/common/cuda/planning.h"
#include "backends/common/upload.h"
#include "backends/splitkv/planned.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench::splitkv {

Planned::Planned(const ForwardBatch& batch, SplitRule rule, PlanMemory& memory)
    : problem_(*batch.problem), rule_(rule), multiprocessors_(memory.device().info().units) {
  if (problem_.recorded) expect_recorded_step(problem_, batch);
  WorkPlan plan = plan_work(batch, problem_.layer, rule_, multiprocessors_);
  if (problem_.recorded) {
    const StepLimits& limits = problem_.limits;
    const tiles::Room room = room_for({problem_.mode, limits.requests, limits.q_len, limits.kv_len},
                                      problem_.layer, rule_, multiprocessors_);
    lay_out(room, limits.requests, limits.requests * limits.kv_len, memory);
  } else {
    std::int64_t keys = 0;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) keys += batch.kv_len(r);
    lay_out(plan.room(), batch.batch_size, keys, memory);
  }
  set_tensors(params_, batch);
  (problem_.recorded ? graph_tree_.arrays() : draft_tree_of(batch)).set_in(params_);
  kernel_ = kernel_for(problem_, plan.many_rows);
  prepare(kernel_);
  enqueue(std::move(plan), batch, nullptr);
  finish_planning();
}

void Planned::lay_out(const tiles::Room& room, std::int64_t requests, std::int64_t keys,
                      PlanMemory& memory) {
  const AttentionLayer& layer = problem_.layer;
  num_counters_ = room.tiles * layer.heads_kv;
  const std::int64_t partials = narrow_i32(room.partials * layer.heads_kv);
  const std::int64_t partial_rows = partials * room.partial_rows;
  DeviceRoom device;
  const std::size_t counters = device.add<std::int32_t>(num_counters_);
  const std::size_t items = device.add<Item>(room.items);
  const std::size_t kv_indptr = device.add<std::int32_t>(requests + 1);
  const std::size_t kv_last_page_len = device.add<std::int32_t>(requests);
  const std::size_t kv_indices = device.add<std::int32_t>(keys);
  const std::size_t partial_out = device.add<float>(partial_rows * layer.head_dim_v);
  const std::size_t partial_lse = device.add<float>(partial_rows);
  if (problem_.recorded) graph_tree_ = GraphDraftTree(problem_, device);

  std::byte* const at = memory.reserve(device.bytes());
  const auto words = [&](std::size_t offset) {
    return reinterpret_cast<std::int32_t*>(at + offset);
  };
  graph_tree_.place(at);
  counters_ = at + counters;
  kv_indptr_ = words(kv_indptr);
  kv_last_page_len_ = words(kv_last_page_len);
  kv_indices_ = words(kv_indices);
  params_.items = reinterpret_cast<const Item*>(at + items);
  params_.num_items = narrow_i32(room.items);
  params_.tiles = narrow_i32(room.tiles);
  params_.partials = narrow_i32(room.partials);
  params_.counters = words(counters);
  params_.kv_indices = kv_indices_;
  params_.partial_out = reinterpret_cast<float*>(at + partial_out);
  params_.partial_lse = reinterpret_cast<float*>(at + partial_lse);
  params_.partial_rows = room.partial_rows;
}

void Planned::enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream) {
  expects(tiles::fits(plan.room(), {params_.num_items, params_.tiles, params_.partials,
                                    params_.partial_rows}),
          "a plan larger than its memory");
  expects(plan.items.empty() || plan.many_rows == kernel_.many_rows,
          "a plan for another kernel than the one that runs");
  plan.items.resize(static_cast<std::size_t>(params_.num_items));  // an empty item has no rows
  Upload upload;                                                   // as laid out
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(num_counters_), 0));
  upload.add(plan.items);
  enqueue_upload(upload, counters_, stream);
  enqueue_csr(device_batch_of(batch), batch.batch_size, 1,
              {kv_indptr_, kv_indices_, kv_last_page_len_}, static_cast<cudaStream_t>(stream));
  graph_tree_.enqueue_copy(batch, stream);
}

void Planned::run(Stream& stream) {
  if (params_.num_items > 0) launch(kernel_, params_, stream.native());
}

bool Planned::update(const ForwardBatch& batch, Stream& stream) {
  if (!problem_.recorded) return false;
  expect_recorded_step(problem_, batch);
  enqueue(plan_work(batch, problem_.layer, rule_, multiprocessors_), batch, stream.native());
  return true;
}

}  // namespace attnbench::splitkv
