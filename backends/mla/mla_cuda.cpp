// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "backends/common/cuda/chosen_rows.h"
#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/kernel_support.h"
#include "backends/common/upload.h"
#include "backends/common/visibility.h"
#include "backends/mla/mla.h"
#include "backends/mla/params.h"
#include "backends/mla/plan.h"
#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"

namespace attnbench::mla {

/// How much of a latent row is V, and its width with rope columns.
inline constexpr int kHeadDimV = 512;
inline constexpr int kHeadDimK = 576;

/// A launch of an mla kernel over a work list in GPU memory, and one that merges what it split.
/// Where they are recorded, memory and grids have room for the most work that a step within the
/// problem's limits can have.
class Planned final : public StepPlan {
 public:
  /// `warpgroups`: with the kernels for Hopper where there are.
  Planned(const ForwardBatch& batch, bool warpgroups, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Lays `memory` out for `room` and the batch's index arrays.
  void lay_out(const Room& room, const ForwardBatch& batch, PlanMemory& memory);
  /// Copies `plan` to where there is room for it, empty items and merges behind its own, and finds
  /// the blocks.
  void enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream);

  int multiprocessors_;
  Kernel kernel_;
  Params params_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  bool has_lists_ = false;
  StepPageTable block_table_;  ///< unless there are lists
  ChosenRows chosen_;          ///< where there are
  DraftTree tree_;
};

namespace {

/// Query tokens of one of the requests, or of one of any step of a recorded plan, that can be in
/// one tile.
std::int64_t most_tokens(const Problem& problem, const ForwardBatch& batch) {
  std::int64_t tokens = problem.recorded ? problem.limits.q_len : 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) tokens = std::max(tokens, batch.q_len(r));
  return tokens_of_one_list(problem.layer, tokens);
}
/// Likewise.
std::int64_t most_rows(const Problem& problem, const ForwardBatch& batch) {
  return most_tokens(problem, batch) * problem.layer.group_size();
}

Kernel kernel_for(const Problem& problem, const ForwardBatch& batch, bool warpgroups) {
  const bool few = most_rows(problem, batch) <= rows_of(TileKind::kFew);
  if (warpgroups) {
    Kernel kernel = warpgroup_kernel_for(problem);
    // wgmma widens latents in fp8 in shared memory, which takes as long for 16 rows as for 64.
    if (few) {
      kernel.tile = TileKind::kFewFp8;
      if (has_kernel(kernel)) return kernel;
      kernel.tile = TileKind::kWarpgroups;
    }
    // Few rows leave wgmma's tensor cores half empty, but such a batch does not wait for them.
    if (has_kernel(kernel)) return kernel;
  }
  return {problem.dtype, problem.cache.dtype, few ? TileKind::kFew : TileKind::kMany};
}

/// Kernel::plain of such a step, and of any other step of its problem.
bool is_plain(const Params& p) {
  return p.window < 0 && p.chunk == 0 && p.block == 1 && p.softcap == 0 && p.custom_mask == nullptr;
}
bool has_plain_form(const Kernel& kernel) {
  return kernel.tile == TileKind::kWarpgroups && !kernel.fp8_out;
}

}  // namespace

Planned::Planned(const ForwardBatch& batch, bool warpgroups, PlanMemory& memory)
    : StepPlan(batch), multiprocessors_(memory.device().info().units) {
  kernel_ = kernel_for(problem(), batch, warpgroups);
  WorkPlan plan = plan_work(batch, problem().layer, kernel_.tile, multiprocessors_);
  params_.lanes = plan.lanes;
  Room room = plan.room();
  if (problem().recorded) {
    const StepLimits& limits = problem().limits;
    const std::int64_t tokens = tokens_of_one_list(problem().layer, limits.q_len);
    const std::int64_t rows = tokens * problem().layer.group_size();
    params_.lanes = kernel_.tile == TileKind::kWarpgroups ? lanes_of(rows) : 1;
    room = room_for(kernel_.tile, limits.q_tokens / tokens, rows,
                    most_keys(problem().layer, limits), multiprocessors_);
  }
  lay_out(room, batch, memory);
  set_attention_params(params_, batch);
  // A tile of one token has the keys of its window, or of its list, and no others.
  if (most_tokens(problem(), batch) <= 1) params_.window = -1;
  if (has_lists_) {  // whose rows stand in the block table as pages of one token
    params_.page_size = 1;
    params_.page_shift = 0;
    params_.k_page_stride = kRowUnit;
  }
  // V is the head of the K row, stored through K's scale.
  params_.v_scale = batch.token_to_kv_pool->k_scale / batch.tensors.out_scale;
  params_.v_scales = params_.k_scales;
  tree_.arrays(batch).set_in(params_);
  kernel_.plain = has_plain_form(kernel_) && is_plain(params_);
  prepare(kernel_);
  enqueue(std::move(plan), batch, nullptr);
  finish_planning();
}

void Planned::lay_out(const Room& room, const ForwardBatch& batch, PlanMemory& memory) {
  DeviceRoom device;
  const auto part_begin = device.add<std::int32_t>(room.parts + 1);
  const auto merges = device.add<Item>(room.merges);
  const auto items = device.add<Item>(room.items);
  has_lists_ = problem().layer.gathers_keys();
  if (has_lists_) {
    chosen_ = ChosenRows(batch, unit_numbers(*batch.token_to_kv_pool), device);
  } else {
    block_table_ = StepPageTable(batch, device);
  }
  const PartialResults results(room.partials * room.partial_rows, kHeadDimV, device);
  tree_ = DraftTree(problem(), device);

  std::byte* const block = memory.reserve(device.bytes());
  if (has_lists_) {
    chosen_.place(block);
    chosen_.set_in(params_);
  } else {
    block_table_.place(block);
  }
  tree_.place(block);
  results.set_in(params_, block);
  memory_ = block + part_begin.offset;
  params_.part_begin = part_begin.in(block);
  params_.parts = narrow_i32(room.parts);
  params_.merges = merges.in(block);
  params_.num_merges = narrow_i32(room.merges);
  params_.most_merges = problem().recorded;
  params_.items = items.in(block);
  params_.num_items = narrow_i32(room.items);
  params_.block_table = has_lists_ ? chosen_.rows() : block_table_.pages();
  params_.block_table_width = has_lists_ ? chosen_.width() : block_table_.width();
  params_.partials = narrow_i32(room.partials);
  params_.partial_rows = room.partial_rows;
}

void Planned::enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream) {
  expects(std::ssize(plan.items) <= params_.num_items &&
              std::ssize(plan.merges) <= params_.num_merges &&
              std::ssize(plan.part_begin) <= params_.parts + 1 &&
              plan.partials <= params_.partials && plan.partial_rows <= params_.partial_rows,
          "a plan larger than its memory");
  expects(!has_parts(kernel_.tile) || plan.items.empty() || plan.lanes == params_.lanes,
          "a plan for other blocks than those that run");
  plan.items.resize(static_cast<std::size_t>(params_.num_items));  // an empty item has no rows
  plan.merges.resize(static_cast<std::size_t>(params_.num_merges));
  plan.part_begin.resize(static_cast<std::size_t>(params_.parts + 1), plan.part_begin.back());
  Upload upload;  // as laid out
  upload.add(plan.part_begin);
  upload.add(plan.merges);
  upload.add(plan.items);
  enqueue_upload(upload, memory_, stream);
  has_lists_ ? chosen_.enqueue(batch, stream) : block_table_.enqueue(batch, stream);
  tree_.enqueue(batch, stream);
}

void Planned::run(Stream& stream) {
  if (params_.num_items == 0) return;
  if (has_lists_) chosen_.launch(stream.native());
  launch(kernel_, params_, stream.native());
}

void Planned::enqueue_step(const ForwardBatch& batch, void* stream) {
  enqueue(plan_work(batch, problem().layer, kernel_.tile, multiprocessors_), batch, stream);
}

MlaBackend::MlaBackend(bool warpgroups) : info_(mla::info()), warpgroups_(warpgroups) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics MlaBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support MlaBackend::supports(const Problem& problem) const {
  const AttentionLayer& layer = problem.layer;
  constexpr Features kFeatures =
      kKernelFeatures | Features{Feature::kLatent, Feature::kLatentSinks, Feature::kAlibi,
                                 Feature::kSelection, Feature::kCompressed};
  if (Support named = unsupported_by_default(problem, kFeatures); !named) return named;
  if (!layer.shares_row_of_k_and_v()) {
    return Support::no("absorbed MLA only: one latent row as K and V");
  }
  const bool rope = layer.head_dim_qk == kHeadDimK;
  if (layer.head_dim_v != kHeadDimV || !(rope || layer.head_dim_qk == kHeadDimV)) {
    return Support::no("latent rows of 512 + 64 or 512 only");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(problem.cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (!rope) {
    if (warpgroups_ && has_kernel(warpgroup_kernel_for(problem))) return Support::yes();
    return Support::no(
        "rows without rope columns by the kernel with wgmma only: activations, cache "
        "and outputs of one 16-bit type on sm_90");
  }
  if (problem.cache.scales == KvScales::kBlock) {
    if (warpgroups_ && has_kernel(warpgroup_kernel_for(problem))) return Support::yes();
    return Support::no("fp8_ds_mla by the kernel with wgmma only: bf16 activations on sm_90");
  }
  if (!has_kernel({problem.dtype, problem.cache.dtype, TileKind::kFew})) {
    return Support::no(
        no_kernel_reason("activations in bf16 or f16, KV cache in the same type, e4m3 or e5m2"));
  }
  return Support::yes();
}

std::vector<KvLayout> MlaBackend::formats(const Problem& problem) const {
  if (problem.cache.scales == KvScales::kBlock) return {KvLayout::kNhd};
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> MlaBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, warpgroups_, memory);
}

}  // namespace attnbench::mla
