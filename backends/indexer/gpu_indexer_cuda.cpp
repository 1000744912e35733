// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/indexer/block_shares.h"
#include "backends/indexer/indexer.h"
#include "backends/indexer/score.cuh"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/device/device.h"

namespace attnbench::indexer {
namespace {

/// How the step's blocks share the work: each takes several tiles of keys, whose queries it loads
/// once.
void share_out(ScoreStep& step, const ForwardBatch& batch, int multiprocessors) {
  const Selection& selection = batch.problem->layer.selection;
  std::int64_t longest_q = 1, most_keys = 1;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    longest_q = std::max(longest_q, batch.q_len(r));
    most_keys = std::max(most_keys, selection.complete_pools(batch.kv_len(r)));
  }
  step.tokens = narrow_i32(std::min<std::int64_t>(longest_q, kMostTokens));
  step.groups = narrow_i32(ceil_div(longest_q, step.tokens));
  std::vector<RequestTiles> requests;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    requests.push_back({ceil_div(batch.q_len(r), step.tokens),
                        ceil_div(selection.complete_pools(batch.kv_len(r)), kTileKeys)});
  }
  const std::int64_t slots = std::int64_t{multiprocessors} * blocks_at_once(step.tokens);
  step.tiles = narrow_i32(tiles_of_a_block(requests, slots, tiles_at_once(step.tokens)));
  step.tile_blocks = narrow_i32(ceil_div(most_keys, std::int64_t{step.tiles} * kTileKeys));
}

class GpuPlan final : public Plan {
 public:
  GpuPlan(const ForwardBatch& batch, int multiprocessors) {
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
    share_out(step_, batch, multiprocessors);
    prepare_score(step_);
  }

  void run(Stream& stream) override {
    enqueue_score(step_, static_cast<cudaStream_t>(stream.native()));
  }

 private:
  ScoreStep step_;
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
  return std::make_unique<GpuPlan>(batch, memory.device().info().units);
}

}  // namespace attnbench::indexer
