// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "backends/cascade/planned.h"
#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/upload.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/narrow.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench::cascade {

Planned::Planned(const ForwardBatch& batch, PlanMemory& memory) {
  const Problem& problem = *batch.problem;
  const AttentionLayer& layer = problem.layer;
  const WorkPlan plan = plan_work(batch, layer, memory.device().info().units);

  Upload upload;
  const std::size_t prefix_items = upload.add(plan.prefix.items);
  const std::size_t suffix_items = upload.add(plan.suffix.items);
  const std::size_t tiles = upload.add(plan.tiles);
  const std::size_t counters = upload.add(std::vector<std::int32_t>(
      static_cast<std::size_t>(plan.suffix.tiles) * static_cast<std::size_t>(layer.heads_kv), 0));
  std::size_t bytes = upload.bytes().size();
  const auto reserve = [&](std::int64_t words) {  // floats or int32
    const std::size_t at = bytes;
    bytes += Upload::aligned(static_cast<std::size_t>(words) * sizeof(std::int32_t));
    return at;
  };
  std::int64_t keys = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) keys += batch.kv_len(r);
  const std::size_t kv_indptr = reserve(batch.batch_size + 1);
  const std::size_t kv_last_page_len = reserve(batch.batch_size);
  const std::size_t kv_indices = reserve(keys);
  const auto partial_rows = [&](const splitkv::WorkPlan& pass) {
    return std::int64_t{pass.partials} * layer.heads_kv * pass.partial_rows;
  };
  const std::size_t prefix_out = reserve(partial_rows(plan.prefix) * layer.head_dim_v);
  const std::size_t prefix_lse = reserve(partial_rows(plan.prefix));
  const std::size_t suffix_out = reserve(partial_rows(plan.suffix) * layer.head_dim_v);
  const std::size_t suffix_lse = reserve(partial_rows(plan.suffix));
  std::byte* const block = memory.reserve(bytes);
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(block + at); };
  const auto floats = [&](std::size_t at) { return reinterpret_cast<float*>(block + at); };

  const auto pass_of = [&](const splitkv::WorkPlan& planned, std::size_t items, std::size_t out,
                           std::size_t lse) {
    Pass pass;
    pass.kernel = splitkv::kernel_for(problem, planned.many_rows);
    pass.params.items = reinterpret_cast<const splitkv::Item*>(block + items);
    pass.params.num_items = narrow_i32(std::ssize(planned.items));
    pass.params.tiles = planned.tiles;
    pass.params.partials = planned.partials;
    pass.params.counters = words(counters);
    pass.params.kv_indices = words(kv_indices);
    pass.params.partial_out = floats(out);
    pass.params.partial_lse = floats(lse);
    pass.params.partial_rows = planned.partial_rows;
    splitkv::set_tensors(pass.params, batch);
    splitkv::prepare(pass.kernel);
    return pass;
  };
  prefix_ = pass_of(plan.prefix, prefix_items, prefix_out, prefix_lse);
  suffix_ = pass_of(plan.suffix, suffix_items, suffix_out, suffix_lse);
  // Of the suffix only: every node of a draft tree sees the whole prefix.
  draft_tree_of(batch).set_in(suffix_.params);

  merge_.tiles = reinterpret_cast<const MergeTile*>(block + tiles);
  merge_.num_tiles = narrow_i32(std::ssize(plan.tiles));
  for (const MergeTile& tile : plan.tiles) {
    merge_.tile_rows = std::max(merge_.tile_rows, tile.rows);
  }
  merge_.prefix_tile_rows = plan.prefix.many_rows ? splitkv::kManyRows : splitkv::kFewRows;
  merge_.prefix = {floats(prefix_out), floats(prefix_lse), plan.prefix.partials,
                   plan.prefix.partial_rows};
  merge_.suffix = {floats(suffix_out), floats(suffix_lse), plan.suffix.partials,
                   plan.suffix.partial_rows};
  // Sinks join here, once: the passes' results stay partial.
  set_output_params(merge_, batch);
  merge_.head_dim_v = layer.head_dim_v;
  merge_.dtype = problem.dtype;

  enqueue_upload(upload, block, nullptr);
  enqueue_csr(device_batch_of(batch), batch.batch_size, 1,
              {words(kv_indptr), words(kv_indices), words(kv_last_page_len)}, nullptr);
  finish_planning();
}

void Planned::run(Stream& stream) {
  for (const Pass* pass : {&prefix_, &suffix_}) {
    if (pass->params.num_items > 0) splitkv::launch(pass->kernel, pass->params, stream.native());
  }
  if (merge_.num_tiles > 0) launch(merge_, stream.native());
}

}  // namespace attnbench::cascade
