// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/kernel_support.h"
#include "backends/common/upload.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/paged_fa/plan.h"
#include "backends/paged_fa/wide_keys.h"
#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"

namespace attnbench::paged_fa {

/// A launch of a paged_fa kernel per kind of tile, over items in GPU memory. Where they are
/// recorded, there is a launch for each kind that a step within the problem's limits can have, and
/// the memory has room for the most items of each.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  struct Launch {
    Kernel kernel;
    Params params;
  };

  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Whether prompts read the keys of an fp8 cache once they are wide.
  [[nodiscard]] bool widens_keys() const;
  /// The batch as the planner sees it.
  [[nodiscard]] PlanInput batch_of(const ForwardBatch& batch) const;
  /// Its plan; of a recorded plan in uniform_'s launches, whatever the keys.
  [[nodiscard]] WorkPlan plan_of(const PlanInput& batch) const;
  /// Lays `memory` out for `room` and the batch's index arrays. The parameters returned are those
  /// that all launches share.
  [[nodiscard]] Params lay_out(const tiles::Room& room, const ForwardBatch& batch,
                               PlanMemory& memory);
  /// Copies `plan` and the batch's lengths to where there is room for them, and finds the pages.
  void enqueue(const WorkPlan& plan, const ForwardBatch& batch, void* stream);

  int multiprocessors_;
  UniformPlan uniform_;  ///< of a recorded plan
  WideKeysPlan wide_plan_;
  WideKeys wide_;
  Params wide_from_;
  const std::int32_t* wide_first_rows_ = nullptr;
  std::vector<Launch> launches_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  tiles::Room room_;
  std::int64_t requests_ = 0;  ///< that there is room for
  std::int64_t counters_ = 0;
  std::int64_t seen_ = 0;  ///< values of Params::seen
  bool ragged_ = false;    ///< keys lie without pages
  StepPageTable page_table_;
  DraftTree tree_;
};

namespace {

/// Launches of a step's different tiles, at most: each has a counter of its own.
constexpr std::int64_t kMostLaunches = 3;

/// Bytes of K or V within which a kernel finds rows: PageGather's offsets are 32 bits of 32 bytes
/// each, or of 16, whose highest value means that there is no row.
constexpr std::int64_t reach_of_rows(int head_dim) {
  return std::int64_t{padded_head_dim(head_dim) == 80 ? 16 : 32} << 32;
}

/// Where ragged keys of request r begin. Of a batch that is a part of another, cu_seqlens_k does
/// not say it, but its request table.
std::int32_t first_row_of(const ForwardBatch& batch, std::int64_t r) {
  if (batch.kv_len(r) == 0) return 0;
  const auto request = static_cast<std::size_t>(r);
  return batch.req_to_token_pool->row(batch.req_pool_indices[request]).front();
}

/// The kernel that reads keys of the activations' type instead.
Kernel of_wide_keys(Kernel kernel) {
  kernel.kv_dtype = kernel.dtype;
  return kernel;
}

}  // namespace

Planned::Planned(const ForwardBatch& batch, PlanMemory& memory)
    : StepPlan(batch),
      multiprocessors_(memory.device().info().units),
      ragged_(problem().cache.layout == KvLayout::kRagged) {
  const PlanInput of_batch = batch_of(batch);
  requests_ = batch.batch_size;
  if (problem().recorded) {
    requests_ = problem().limits.requests;
    uniform_ = uniform_plan(requests_, problem().limits.q_len, of_batch);
  }
  const WorkPlan plan = plan_of(of_batch);
  if (widens_keys()) wide_plan_ = plan_wide_keys(plan, requests_);
  Params params = lay_out(problem().recorded ? uniform_.room : plan.room(), batch, memory);
  set_attention_params(params, batch);
  params.head_dim = problem().layer.head_dim_v;
  if (ragged_) {
    expects(problem().limits.kv_len <= kRaggedPage, "a request of more than 2^30 ragged keys");
    set_ragged_page(params);
  }
  expects(
      batch.token_to_kv_pool->num_pages * std::max(params.k_page_stride, params.v_page_stride) <
          reach_of_rows(problem().layer.head_dim_v),
      "K or V of one layer has 128 GiB or more, or 64 of head dims 72 and 80: rows are found by "
      "32 bits of 32 bytes each, or of 16");
  tree_.arrays(batch).set_in(params);
  const Item* const items = params.items;
  for (const WorkPlan::Launch& launch : plan.launches) {
    Kernel kernel = kernel_for(problem(), launch.tile);
    params.items = items + launch.first_item;
    params.num_items = launch.num_items;
    params.heads_together = launch.heads_together;
    const bool wide = launch.tile == TileKind::kMany && widens_keys();
    if (wide) kernel = of_wide_keys(kernel), wide_from_ = params;
    prepare(kernel);
    launches_.push_back({kernel, wide ? over_wide_keys(params, wide_, wide_first_rows_) : params});
    ++params.taken;
  }
  enqueue(plan, batch, nullptr);
  finish_planning();
}

// A recorded step's decodes and draft trees have few rows for their keys.
bool Planned::widens_keys() const {
  return size_bytes(problem().cache.dtype) == 1 && !problem().recorded &&
         has_kernel(of_wide_keys(kernel_for(problem(), TileKind::kMany)));
}

PlanInput Planned::batch_of(const ForwardBatch& batch) const {
  const bool many_rows = has_kernel(kernel_for(problem(), TileKind::kMany)) || widens_keys();
  return plan_input(batch, problem().layer, many_rows, multiprocessors_);
}

WorkPlan Planned::plan_of(const PlanInput& batch) const {
  WorkPlan plan = plan_work(batch);
  // Which heads a launch takes side by side changes no result.
  if (problem().recorded) place_in(uniform_, plan);
  return plan;
}

Params Planned::lay_out(const tiles::Room& room, const ForwardBatch& batch, PlanMemory& memory) {
  const AttentionLayer& layer = problem().layer;
  room_ = room;
  counters_ = kMostLaunches + room.tiles * layer.heads_kv;
  DeviceRoom device;
  const auto counters = device.add<std::int32_t>(counters_);
  const auto cache_seqlens = device.add<std::int32_t>(requests_);
  const auto cu_seqlens_q = device.add<std::int32_t>(requests_ + 1);
  const auto first_rows = device.add<std::int32_t>(ragged_ ? requests_ : 0);
  const auto items = device.add<Item>(room.items);
  if (problem().spans) {
    seen_ = 2 * (problem().recorded ? requests_ * problem().limits.q_len : batch.q_tokens());
  }
  const auto seen = device.add<std::int32_t>(seen_);
  const auto wide_first_rows = device.add<std::int32_t>(std::ssize(wide_plan_.first_rows));
  const auto wide_pieces = device.add<WidePiece>(std::ssize(wide_plan_.pieces));
  if (!ragged_) page_table_ = StepPageTable(batch, device);
  const PartialResults results(room.partials * layer.heads_kv * room.partial_rows,
                               padded_head_dim(layer.head_dim_v), device);
  tree_ = DraftTree(problem(), device);

  const std::int64_t wide_rows = wide_plan_.rows * layer.heads_kv;
  const std::int64_t wide_bytes = wide_rows * size_bytes(problem().dtype);
  const auto wide_k = device.add<std::byte>(wide_bytes * layer.head_dim_qk);
  const auto wide_v = device.add<std::byte>(wide_bytes * layer.head_dim_v);

  std::byte* const block = memory.reserve(device.bytes());
  wide_ = {wide_pieces.in(block), narrow_i32(std::ssize(wide_plan_.pieces)),
           problem().dtype,       problem().cache.dtype,
           layer.head_dim_qk,     layer.head_dim_v,
           wide_k.in(block),      wide_v.in(block),
           wide_plan_.rows};
  wide_first_rows_ = wide_first_rows.in(block);
  if (!ragged_) page_table_.place(block);
  tree_.place(block);
  memory_ = block + counters.offset;
  Params p;
  results.set_in(p, block);
  p.taken = counters.in(block);
  p.counters = p.taken + kMostLaunches;
  p.cache_seqlens = cache_seqlens.in(block);
  p.cu_seqlens_q = cu_seqlens_q.in(block);
  p.items = items.in(block);
  if (seen_ > 0) p.seen = seen.in(block);
  if (ragged_) p.first_rows = first_rows.in(block);
  p.page_table = page_table_.pages();
  p.page_table_stride = page_table_.width();
  p.partial_rows = room.partial_rows;
  return p;
}

void Planned::enqueue(const WorkPlan& plan, const ForwardBatch& batch, void* stream) {
  expects(tiles::fits(plan.room(), room_), "a plan larger than its memory");
  std::vector<std::int32_t> cache_seqlens, first_rows;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    cache_seqlens.push_back(narrow_i32(batch.kv_len(r)));
    if (ragged_) first_rows.push_back(first_row_of(batch, r));
  }
  std::vector<std::int32_t> cu_seqlens_q = qo_indptr(batch);
  const auto requests = static_cast<std::size_t>(requests_);
  cache_seqlens.resize(requests);
  cu_seqlens_q.resize(requests + 1);
  if (ragged_) first_rows.resize(requests);
  std::vector<std::int32_t> seen = plan.seen;
  seen.resize(to_size(seen_));
  Upload upload;  // as laid out
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(counters_), 0));
  upload.add(cache_seqlens);
  upload.add(cu_seqlens_q);
  upload.add(first_rows);
  upload.add(plan.items);
  upload.add(seen);
  upload.add(wide_plan_.first_rows);
  upload.add(wide_plan_.pieces);
  enqueue_upload(upload, memory_, stream);
  if (!ragged_) page_table_.enqueue(batch, stream);
  tree_.enqueue(batch, stream);
}

void Planned::run(Stream& stream) {
  if (wide_.num_pieces > 0) widen_keys(wide_, wide_from_, stream.native());
  for (const auto& [kernel, params] : launches_) launch(kernel, params, stream.native());
}

void Planned::enqueue_step(const ForwardBatch& batch, void* stream) {
  enqueue(plan_of(batch_of(batch)), batch, stream);
}

PagedFaBackend::PagedFaBackend() : info_(paged_fa::info()) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics PagedFaBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support PagedFaBackend::supports(const Problem& problem) const {
  if (problem.layer.dual_chunk.exists() && problem.mode == ForwardMode::kTargetVerify) {
    return Support::no("no drafts in dual chunks (see splitkv)");
  }
  if (problem.layer.has_alibi) return Support::no("no ALiBi, as FlashAttention 3 (see splitkv)");
  const TileKind tile = problem.spans ? TileKind::kSome : TileKind::kFew;
  return supports_key_value_heads(problem, kKernelFeatures | Features{Feature::kSpans},
                                  has_kernel(kernel_for(problem, tile)),
                                  "head dims 64, 96, 128, 256 and 192/128 only, and 72 and 80 "
                                  "with a cache in the activations' type");
}

std::unique_ptr<Plan> PagedFaBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::paged_fa
