// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "backends/cascade/cascade.h"
#include "backends/cascade/plan.h"
#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/kernel_support.h"
#include "backends/common/upload.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/splitkv.h"
#include "lib/backend/backend.h"
#include "lib/backend/features.h"
#include "lib/base/narrow.h"

namespace attnbench::cascade {

/// Up to three launches: splitkv's kernels over the shared prefixes and over the suffixes, then the
/// merge of both.
class Planned final : public Plan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  struct Pass {
    splitkv::Kernel kernel;
    splitkv::Params params;
  };
  Pass prefix_, suffix_;
  Merge merge_;
};

Planned::Planned(const ForwardBatch& batch, PlanMemory& memory) {
  const Problem& problem = *batch.problem;
  const AttentionLayer& layer = problem.layer;
  const WorkPlan plan = plan_work(batch, layer, memory.device().info().units);

  const auto counters_of_suffix = std::int64_t{plan.suffix.tiles} * layer.heads_kv;
  DeviceRoom device;
  const auto prefix_items = device.add<splitkv::Item>(std::ssize(plan.prefix.items));
  const auto suffix_items = device.add<splitkv::Item>(std::ssize(plan.suffix.items));
  const auto tiles = device.add<MergeTile>(std::ssize(plan.tiles));
  const auto levels = device.add<LevelRows>(std::ssize(plan.levels));
  const auto counters = device.add<std::int32_t>(counters_of_suffix);
  TokenSlots slots(batch, device);
  const auto results_of = [&](const splitkv::WorkPlan& pass) {
    const std::int64_t rows = std::int64_t{pass.partials} * layer.heads_kv * pass.partial_rows;
    return PartialResults(rows, layer.head_dim_v, device);
  };
  const PartialResults prefix_results = results_of(plan.prefix);
  const PartialResults suffix_results = results_of(plan.suffix);
  std::byte* const block = memory.reserve(device.bytes());
  slots.place(block);

  const auto pass_of = [&](const splitkv::WorkPlan& planned, const splitkv::Item* items,
                           const PartialResults& results) {
    Pass pass;
    pass.kernel = splitkv::kernel_for(problem, planned.many_rows);
    pass.params.items = items;
    pass.params.num_items = narrow_i32(std::ssize(planned.items));
    pass.params.tiles = planned.tiles;
    pass.params.partials = planned.partials;
    pass.params.counters = counters.in(block);
    pass.params.kv_indices = slots.kv_indices();
    pass.params.partial_rows = planned.partial_rows;
    results.set_in(pass.params, block);
    splitkv::set_tensors(pass.params, batch);
    splitkv::prepare(pass.kernel);
    return pass;
  };
  prefix_ = pass_of(plan.prefix, prefix_items.in(block), prefix_results);
  suffix_ = pass_of(plan.suffix, suffix_items.in(block), suffix_results);
  // Of the suffix only: every node of a draft tree sees the whole prefix.
  DraftTree().arrays(batch).set_in(suffix_.params);

  merge_.tiles = tiles.in(block);
  merge_.levels = levels.in(block);
  merge_.num_tiles = narrow_i32(std::ssize(plan.tiles));
  for (const MergeTile& tile : plan.tiles) {
    merge_.tile_rows = std::max(merge_.tile_rows, tile.rows);
  }
  merge_.prefix_tile_rows = plan.prefix.many_rows ? splitkv::kManyRows : splitkv::kFewRows;
  const auto partials_of = [](const splitkv::Params& pass) {
    return Partials{pass.partial_out, pass.partial_lse, pass.partials, pass.partial_rows};
  };
  merge_.prefix = partials_of(prefix_.params);
  merge_.suffix = partials_of(suffix_.params);
  // Sinks join here, once: the passes' results stay partial.
  set_output_params(merge_, batch);
  merge_.head_dim_v = layer.head_dim_v;
  merge_.dtype = problem.dtype;

  Upload upload;  // as laid out
  upload.add(plan.prefix.items);
  upload.add(plan.suffix.items);
  upload.add(plan.tiles);
  upload.add(plan.levels);
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(counters_of_suffix), 0));
  enqueue_upload(upload, block, nullptr);
  slots.enqueue(batch, nullptr);
  finish_planning();
}

void Planned::run(Stream& stream) {
  for (const Pass* pass : {&prefix_, &suffix_}) {
    if (pass->params.num_items > 0) splitkv::launch(pass->kernel, pass->params, stream.native());
  }
  if (merge_.num_tiles > 0) launch(merge_, stream.native());
}

CascadeBackend::CascadeBackend() : info_(cascade::info()) {}

// The same kernels, merged in f32.
Numerics CascadeBackend::numerics(const Problem& problem) const {
  return splitkv::SplitKvBackend().numerics(problem);
}

Support CascadeBackend::supports(const Problem& problem) const {
  constexpr Features kFeatures = {Feature::kDraftTrees, Feature::kSoftcap,     Feature::kSinks,
                                  Feature::kEmptyRows,  Feature::kPrefixAlone, Feature::kSwaPool,
                                  Feature::kPageGaps};
  if (Support named = unsupported_by_default(
          problem, kFeatures, "all queries see a prefix whole, and in one form of themselves");
      !named) {
    return named;
  }
  return splitkv::SplitKvBackend().supports(problem);
}

std::vector<KvLayout> CascadeBackend::formats(const Problem& problem) const {
  if (problem.cache.scales == KvScales::kRequest) return {};
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> CascadeBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::cascade
