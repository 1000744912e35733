// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "backends/common/cuda/planning.h"
#include "backends/common/upload.h"
#include "backends/paged_fa/planned.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench::paged_fa {
namespace {

/// Launches of a step's different tiles, at most: each has a counter of its own.
constexpr std::int64_t kMostLaunches = 3;

}  // namespace

Planned::Planned(const ForwardBatch& batch, PlanMemory& memory)
    : problem_(*batch.problem), multiprocessors_(memory.device().info().units) {
  if (problem_.recorded) expect_recorded_step(problem_, batch);
  const PlanInput of_batch = batch_of(batch);
  std::int64_t requests = batch.batch_size, longest = 0;
  if (problem_.recorded) {
    const StepLimits& limits = problem_.limits;
    uniform_ = uniform_plan(limits.requests, limits.q_len, of_batch);
    requests = limits.requests;
    longest = limits.kv_len;
  } else {
    for (std::int64_t r = 0; r < requests; ++r) longest = std::max(longest, batch.kv_len(r));
  }
  const WorkPlan plan = plan_of(of_batch);
  Params params = lay_out(problem_.recorded ? uniform_.room : plan.room(), requests,
                          ceil_div(longest, batch.token_to_kv_pool->page_size), memory);
  set_attention_params(params, batch);
  (problem_.recorded ? graph_tree_.arrays() : draft_tree_of(batch)).set_in(params);
  const Item* const items = params.items;
  for (const WorkPlan::Launch& launch : plan.launches) {
    const Kernel kernel = kernel_for(problem_, launch.tile);
    prepare(kernel);
    params.items = items + launch.first_item;
    params.num_items = launch.num_items;
    params.heads_together = launch.heads_together;
    launches_.push_back({kernel, params});
    ++params.taken;
  }
  enqueue(plan, batch, nullptr);
  finish_planning();
}

PlanInput Planned::batch_of(const ForwardBatch& batch) const {
  const bool many_rows = has_kernel(kernel_for(problem_, TileKind::kMany));
  return plan_input(batch, problem_.layer, many_rows, multiprocessors_);
}

WorkPlan Planned::plan_of(const PlanInput& batch) const {
  WorkPlan plan = plan_work(batch);
  // Which heads a launch takes side by side changes no result.
  if (problem_.recorded) place_in(uniform_, plan);
  return plan;
}

Params Planned::lay_out(const tiles::Room& room, std::int64_t requests, std::int64_t width,
                        PlanMemory& memory) {
  const AttentionLayer& layer = problem_.layer;
  const std::int64_t partial_rows = room.partials * layer.heads_kv * room.partial_rows;
  room_ = room;
  requests_ = requests;
  page_table_width_ = width;
  counters_ = kMostLaunches + room.tiles * layer.heads_kv;
  DeviceRoom device;
  const std::size_t counters = device.add<std::int32_t>(counters_);
  const std::size_t cache_seqlens = device.add<std::int32_t>(requests);
  const std::size_t cu_seqlens_q = device.add<std::int32_t>(requests + 1);
  const std::size_t items = device.add<Item>(room.items);
  const std::size_t page_table = device.add<std::int32_t>(requests * width);
  const std::size_t partial_out = device.add<float>(partial_rows * layer.head_dim_v);
  const std::size_t partial_lse = device.add<float>(partial_rows);
  if (problem_.recorded) graph_tree_ = GraphDraftTree(problem_, device);

  std::byte* const block = memory.reserve(device.bytes());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(block + at); };
  graph_tree_.place(block);
  memory_ = block + counters;
  page_table_ = words(page_table);
  Params p;
  p.taken = words(counters);
  p.counters = p.taken + kMostLaunches;
  p.cache_seqlens = words(cache_seqlens);
  p.cu_seqlens_q = words(cu_seqlens_q);
  p.items = reinterpret_cast<const Item*>(block + items);
  p.page_table = page_table_;
  p.page_table_stride = width;
  p.partial_out = reinterpret_cast<float*>(block + partial_out);
  p.partial_lse = reinterpret_cast<float*>(block + partial_lse);
  p.partial_rows = room.partial_rows;
  return p;
}

void Planned::enqueue(const WorkPlan& plan, const ForwardBatch& batch, void* stream) {
  expects(tiles::fits(plan.room(), room_), "a plan larger than its memory");
  std::vector<std::int32_t> cache_seqlens;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    cache_seqlens.push_back(narrow_i32(batch.kv_len(r)));
  }
  std::vector<std::int32_t> cu_seqlens_q = qo_indptr(batch);
  const auto requests = static_cast<std::size_t>(requests_);
  cache_seqlens.resize(requests);
  cu_seqlens_q.resize(requests + 1);
  Upload upload;  // as laid out
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(counters_), 0));
  upload.add(cache_seqlens);
  upload.add(cu_seqlens_q);
  upload.add(plan.items);
  enqueue_upload(upload, memory_, stream);
  enqueue_page_table(device_batch_of(batch), batch.batch_size, batch.token_to_kv_pool->page_size,
                     page_table_width_, -1, page_table_, static_cast<cudaStream_t>(stream));
  graph_tree_.enqueue_copy(batch, stream);
}

void Planned::run(Stream& stream) {
  for (const auto& [kernel, params] : launches_) launch(kernel, params, stream.native());
}

bool Planned::update(const ForwardBatch& batch, Stream& stream) {
  if (!problem_.recorded) return false;
  expect_recorded_step(problem_, batch);
  enqueue(plan_of(batch_of(batch)), batch, stream.native());
  return true;
}

}  // namespace attnbench::paged_fa
