// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <string>

#include "backends/common/upload.h"
#include "backends/mla/mla.h"
#include "backends/mla/plan.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/index/block_table.h"

namespace attnbench {
namespace {

constexpr int kDk = 576;
constexpr int kDv = 512;

}  // namespace

MlaBackend::MlaBackend() {
  info_.name = "mla";
  info_.version = "1";
  info_.description = "absorbed MLA on tensor cores, keys split, merged by LSE";
  info_.index_format = "block_table";
  info_.device = DeviceKind::kCuda;
  // Operands of q.k are as stored; weights have the type of the activations, bf16 at worst.
  info_.numerics.qk_input = DType::kF32;
  info_.numerics.p = DType::kBF16;
  info_.numerics.accumulator = DType::kF32;
  info_.numerics.partial_out = DType::kF32;
  info_.numerics.max_splits = 1024;
}

Support MlaBackend::supports(const Case& c, const Device& device) const {
  const AttentionLayer& layer = c.layer;
  if (device.info().kind != DeviceKind::kCuda) return Support::no("runs on NVIDIA GPUs only");
  if (layer.kind != AttentionKind::kMlaAbsorbed) {
    return Support::no("absorbed MLA only: one latent row as K and V");
  }
  if (layer.head_dim_qk != kDk || layer.head_dim_v != kDv) {
    return Support::no("latent rows of 512 + 64 only");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(c.kv_cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (!mla_has_kernel({c.dtype, c.kv_cache.dtype, MlaTile::kFew})) {
    return Support::no("activations in bf16 or f16, KV cache in the same type, e4m3 or e5m2");
  }
  return Support::yes();
}

void MlaBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                       Workspace& workspace) {
  plan_ = {};
  if (batch.batch_size == 0) return;
  const KvPool& pool = *batch.token_to_kv_pool;
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * layer.group_size());
  }
  tile_ = most_rows <= kSplitKvFewRows ? MlaTile::kFew : MlaTile::kMany;
  // Latents of 16 bits have the activations' type.
  if (tile_ == MlaTile::kMany && mla_has_kernel({pool.dtype, pool.dtype, MlaTile::kWarpgroups})) {
    tile_ = MlaTile::kWarpgroups;
    plan_warpgroups(batch, layer, workspace);
    prepare_mla({pool.dtype, pool.dtype, tile_});
  } else {
    plan_blocks(batch, layer, workspace);
    // The activations' type is not known before forward(); both may come.
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      const MlaKernel kernel{dtype, pool.dtype, tile_};
      if (mla_has_kernel(kernel)) prepare_mla(kernel);
    }
  }
  plan_.page_shift = std::countr_zero(static_cast<std::uint64_t>(pool.page_size));
  if (batch.forward_mode == ForwardMode::kTargetVerify && layer.causal) {
    expects(batch.device_batch != nullptr && batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    plan_.custom_mask = batch.device_batch->custom_mask;
    plan_.mask_indptr = batch.device_batch->mask_indptr;
    plan_.positions = batch.device_batch->positions;
  }
}

void MlaBackend::plan_blocks(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) {
  const SplitKvPlan plan =
      plan_splitkv(batch, layer, SplitRule::kFill, workspace.device().info().units);
  Upload upload;
  const std::size_t items = upload.add(plan.items);
  const std::size_t counters =
      upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(plan.tiles), 0));
  std::byte* const memory =
      place(upload, batch, std::int64_t{plan.partials} * plan.partial_rows, workspace);
  plan_.items = reinterpret_cast<const SplitKvItem*>(memory + items);
  plan_.num_items = static_cast<std::int32_t>(plan.items.size());
  plan_.counters = reinterpret_cast<std::int32_t*>(memory + counters);
  plan_.partial_rows = plan.partial_rows;
}

void MlaBackend::plan_warpgroups(const ForwardBatch& batch, const AttentionLayer& layer,
                                 Workspace& workspace) {
  const int lanes = mla_lanes(batch, layer);
  const MlaPlan plan =
      plan_mla(mla_tiles(batch, layer, lanes), lanes, workspace.device().info().units);
  Upload upload;
  const std::size_t items = upload.add(plan.items), parts = upload.add(plan.part_begin),
                    merges = upload.add(plan.merges);
  std::byte* const memory =
      place(upload, batch, std::int64_t{plan.partials} * plan.partial_rows, workspace);
  plan_.items = reinterpret_cast<const SplitKvItem*>(memory + items);
  plan_.num_items = static_cast<std::int32_t>(plan.items.size());
  plan_.part_begin = reinterpret_cast<const std::int32_t*>(memory + parts);
  plan_.parts = static_cast<std::int32_t>(plan.part_begin.size()) - 1;
  plan_.lanes = plan.lanes;
  plan_.merges = reinterpret_cast<const SplitKvItem*>(memory + merges);
  plan_.num_merges = static_cast<std::int32_t>(plan.merges.size());
  plan_.partial_rows = plan.partial_rows;
}

std::byte* MlaBackend::place(Upload& upload, const ForwardBatch& batch, std::int64_t partial_rows,
                             Workspace& workspace) {
  const PageTable blocks = build_block_table(batch, batch.token_to_kv_pool->page_size);
  const std::size_t table = upload.add(blocks.page_table), partial_out = upload.bytes().size();
  const auto rows = static_cast<std::size_t>(partial_rows);
  const std::size_t out_bytes = Upload::aligned(rows * kDv * sizeof(float));
  std::byte* const memory = workspace.reserve(partial_out + out_bytes + rows * sizeof(float));
  workspace.device().copy_from_host(memory, upload.bytes().data(), upload.bytes().size());
  plan_.block_table = reinterpret_cast<const std::int32_t*>(memory + table);
  plan_.block_table_width = blocks.width;
  plan_.partial_out = reinterpret_cast<float*>(memory + partial_out);
  plan_.partial_lse = reinterpret_cast<float*>(memory + partial_out + out_bytes);
  return memory;
}

void MlaBackend::run(const AttentionIo& io, Stream& stream) const {
  if (plan_.num_items == 0) return;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  MlaParams p = plan_;
  set_tensors(p, io);
  p.k_page_stride = pool.page_stride_k * size_bytes(pool.dtype);  // blocks, not slots
  p.v_scale = pool.k_scale;  // V is the head of the K row, stored through K's scale
  launch_mla({io.q.dtype, pool.dtype, tile_}, p, stream.native());
}

}  // namespace attnbench
