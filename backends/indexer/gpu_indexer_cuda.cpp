// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/indexer/block_shares.h"
#include "backends/indexer/indexer.h"
#include "backends/indexer/score.cuh"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/device/device.h"

namespace attnbench::indexer {
namespace {

struct Lengths {
  std::int64_t queries, keys;
};

/// The lengths of each request; of a recorded plan the longest that they may have.
std::vector<Lengths> lengths_of(const ForwardBatch& batch) {
  const Problem& problem = *batch.problem;
  const Selection& selection = problem.layer.selection;
  if (problem.recorded) {
    return {to_size(problem.limits.requests),
            {problem.limits.q_len, selection.complete_pools(problem.limits.kv_len)}};
  }
  std::vector<Lengths> lengths;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    lengths.push_back({batch.q_len(r), selection.complete_pools(batch.kv_len(r))});
  }
  return lengths;
}

/// How the step's blocks share the work: each takes several tiles of keys, whose queries it loads
/// once.
void share_out(ScoreStep& step, const std::vector<Lengths>& lengths, int multiprocessors) {
  std::int64_t longest_q = 1, most_keys = 1;
  for (const Lengths& each : lengths) {
    longest_q = std::max(longest_q, each.queries);
    most_keys = std::max(most_keys, each.keys);
  }
  step.tokens = narrow_i32(std::min<std::int64_t>(longest_q, kMostTokens));
  step.groups = narrow_i32(ceil_div(longest_q, step.tokens));
  std::vector<RequestTiles> requests;
  for (const Lengths& each : lengths) {
    requests.push_back({ceil_div(each.queries, step.tokens), ceil_div(each.keys, kTileKeys)});
  }
  const std::int64_t slots = std::int64_t{multiprocessors} * blocks_at_once(step.tokens);
  step.tiles = narrow_i32(tiles_of_a_block(requests, slots, tiles_at_once(step.tokens)));
  step.tile_blocks = narrow_i32(ceil_div(most_keys, std::int64_t{step.tiles} * kTileKeys));
}

/// A recorded plan has a block table of its own, which is brought to each step. All else that its
/// launches read stays where it is, and qo_indptr is the same in all steps.
class GpuPlan final : public StepPlan {
 public:
  GpuPlan(const ForwardBatch& batch, PlanMemory& memory) : StepPlan(batch) {
    const DeviceBatch& here = device_batch_of(batch);
    const IndexOutput& logits = batch.index_outputs->arrays.front();
    step_.in = *batch.indexer;
    step_.qo_indptr = here.qo_indptr;
    step_.block_table = here.block_table;
    step_.table_width = here.block_table_width;
    // A Device's memory is aligned for any type.
    step_.logits = static_cast<float*>(static_cast<void*>(logits.data));
    step_.columns = logits.shape[2];
    step_.requests = narrow_i32(batch.batch_size);
    step_.tiles_of_page = narrow_i32(step_.in.page_size / kTileKeys);
    share_out(step_, lengths_of(batch), memory.device().info().units);
    prepare_score(step_);
    if (!problem().recorded) return;
    DeviceRoom room;
    block_table_ = StepPageTable(batch, room);
    block_table_.place(memory.reserve(room.bytes()));
    step_.block_table = block_table_.pages();
    step_.table_width = block_table_.width();
    enqueue_step(batch, nullptr);
    finish_planning();
  }

  void run(Stream& stream) override {
    enqueue_score(step_, static_cast<cudaStream_t>(stream.native()));
  }

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override {
    block_table_.enqueue(batch, stream);
  }

  ScoreStep step_;
  StepPageTable block_table_;  ///< of a recorded plan
};

}  // namespace

Support GpuIndexer::supports(const Problem& problem) const {
  if (Support named = Indexer::supports(problem); !named) return named;
  if (problem.layer.selection.scores_in_bf16())
    return Support::no("no maxima of units, no rows in bf16");
  if (problem.layer.selection.index_heads > kMostHeads) {
    return Support::no("64 index heads at most");
  }
  const std::int64_t unit = problem.layer.selection.unit;
  if (problem.cache.page_size % (kTileKeys * unit) != 0) {
    return Support::no(fmt::format("pages of {} keys, or of a multiple{}", kTileKeys * unit,
                                   unit == 1 ? "" : ": 64 pools"));
  }
  return can_score() ? Support::yes()
                     : Support::no("compute capability 9.0 only, and a build for it (90a)");
}

Numerics GpuIndexer::numerics(const Problem&) const {
  return {.qk_input = DType::kE4M3};  // whose products' rate is the ceiling
}

std::unique_ptr<Plan> GpuIndexer::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<GpuPlan>(batch, memory);
}

}  // namespace attnbench::indexer
