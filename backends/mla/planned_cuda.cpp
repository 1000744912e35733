// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "backends/common/cuda/planning.h"
#include "backends/common/upload.h"
#include "backends/mla/planned.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench::mla {
namespace {

Kernel kernel_for(const Problem& problem, const ForwardBatch& batch, bool warpgroups) {
  // Few rows leave the tensor cores half empty, but such a batch does not wait for the tensor
  // cores.
  const Kernel wgmma{problem.dtype, problem.cache.dtype, TileKind::kWarpgroups};
  if (warpgroups && has_kernel(wgmma)) return wgmma;
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * problem.layer.group_size());
  }
  return {problem.dtype, problem.cache.dtype,
          most_rows <= rows_of(TileKind::kFew) ? TileKind::kFew : TileKind::kMany};
}

}  // namespace

Planned::Planned(const ForwardBatch& batch, bool warpgroups, PlanMemory& memory)
    : problem_(*batch.problem), multiprocessors_(memory.device().info().units) {
  if (problem_.recorded) expect_recorded_step(problem_, batch);
  kernel_ = kernel_for(problem_, batch, warpgroups);
  const AttentionLayer& layer = problem_.layer;
  const KvPool& pool = *batch.token_to_kv_pool;
  WorkPlan plan = plan_work(batch, layer, kernel_.tile, multiprocessors_);
  if (problem_.recorded) {
    const StepLimits& limits = problem_.limits;
    const std::int64_t rows = limits.q_len * layer.group_size();
    params_.lanes = lanes_of(rows);
    lay_out(room_for(kernel_.tile, limits.requests, rows, multiprocessors_), limits.requests,
            ceil_div(limits.kv_len, pool.page_size), memory);
  } else {
    std::int64_t longest = 0;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      longest = std::max(longest, batch.kv_len(r));
    }
    params_.lanes = plan.lanes;
    lay_out(plan.room(), batch.batch_size, ceil_div(longest, pool.page_size), memory);
  }
  set_attention_params(params_, batch);
  params_.v_scale = pool.k_scale;  // V is the head of the K row, stored through K's scale
  (problem_.recorded ? graph_tree_.arrays() : draft_tree_of(batch)).set_in(params_);
  prepare(kernel_);
  enqueue(std::move(plan), batch, nullptr);
  finish_planning();
}

void Planned::lay_out(const Room& room, std::int64_t requests, std::int64_t width,
                      PlanMemory& memory) {
  const std::int64_t partial_rows = room.partials * room.partial_rows;
  DeviceRoom device;
  const std::size_t part_begin = device.add<std::int32_t>(room.parts + 1);
  const std::size_t merges = device.add<Item>(room.merges);
  const std::size_t items = device.add<Item>(room.items);
  const std::size_t block_table = device.add<std::int32_t>(requests * width);
  const std::size_t partial_out = device.add<float>(partial_rows * kHeadDimV);
  const std::size_t partial_lse = device.add<float>(partial_rows);
  if (problem_.recorded) graph_tree_ = GraphDraftTree(problem_, device);

  std::byte* const block = memory.reserve(device.bytes());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(block + at); };
  graph_tree_.place(block);
  memory_ = block + part_begin;
  block_table_ = words(block_table);
  params_.part_begin = words(part_begin);
  params_.parts = narrow_i32(room.parts);
  params_.merges = reinterpret_cast<const Item*>(block + merges);
  params_.num_merges = narrow_i32(room.merges);
  params_.items = reinterpret_cast<const Item*>(block + items);
  params_.num_items = narrow_i32(room.items);
  params_.block_table = block_table_;
  params_.block_table_width = width;
  params_.partials = narrow_i32(room.partials);
  params_.partial_out = reinterpret_cast<float*>(block + partial_out);
  params_.partial_lse = reinterpret_cast<float*>(block + partial_lse);
  params_.partial_rows = room.partial_rows;
}

void Planned::enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream) {
  expects(std::ssize(plan.items) <= params_.num_items &&
              std::ssize(plan.merges) <= params_.num_merges &&
              std::ssize(plan.part_begin) <= params_.parts + 1 &&
              plan.partials <= params_.partials && plan.partial_rows <= params_.partial_rows,
          "a plan larger than its memory");
  expects(
      kernel_.tile != TileKind::kWarpgroups || plan.items.empty() || plan.lanes == params_.lanes,
      "a plan for other blocks than those that run");
  plan.items.resize(static_cast<std::size_t>(params_.num_items));  // an empty item has no rows
  plan.merges.resize(static_cast<std::size_t>(params_.num_merges));
  plan.part_begin.resize(static_cast<std::size_t>(params_.parts + 1), plan.part_begin.back());
  Upload upload;  // as laid out
  upload.add(plan.part_begin);
  upload.add(plan.merges);
  upload.add(plan.items);
  enqueue_upload(upload, memory_, stream);
  enqueue_page_table(device_batch_of(batch), batch.batch_size, batch.token_to_kv_pool->page_size,
                     params_.block_table_width, -1, block_table_,
                     static_cast<cudaStream_t>(stream));
  graph_tree_.enqueue_copy(batch, stream);
}

void Planned::run(Stream& stream) {
  if (params_.num_items > 0) launch(kernel_, params_, stream.native());
}

bool Planned::update(const ForwardBatch& batch, Stream& stream) {
  if (!problem_.recorded) return false;
  expect_recorded_step(problem_, batch);
  enqueue(plan_work(batch, problem_.layer, kernel_.tile, multiprocessors_), batch, stream.native());
  return true;
}

}  // namespace attnbench::mla
