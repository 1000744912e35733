// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <string>

#include "backends/common/upload.h"
#include "backends/mla/mla.h"
#include "backends/splitkv/plan.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/index/block_table.h"

namespace attnbench {

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
  if (layer.head_dim_qk != 576 || layer.head_dim_v != 512) {
    return Support::no("latent rows of 512 + 64 only");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(c.kv_cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (!mla_has_kernel({c.dtype, c.kv_cache.dtype, false})) {
    return Support::no("activations in bf16 or f16, KV cache in the same type, e4m3 or e5m2");
  }
  return Support::yes();
}

void MlaBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                       Workspace& workspace) {
  plan_ = {};
  if (batch.batch_size == 0) return;
  const KvPool& pool = *batch.token_to_kv_pool;
  const SplitKvPlan plan =
      plan_splitkv(batch, layer, SplitRule::kFill, workspace.device().info().units);
  const PageTable blocks = build_block_table(batch, pool.page_size);
  many_rows_ = plan.many_rows;

  Upload upload;
  const std::size_t items = upload.add(plan.items);
  const std::size_t counters =
      upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(plan.tiles), 0));
  const std::size_t table = upload.add(blocks.page_table);
  const std::size_t partial_out = upload.bytes().size();
  const auto partial_rows =
      static_cast<std::size_t>(plan.partials) * static_cast<std::size_t>(plan.partial_rows);
  const std::size_t out_bytes =
      Upload::aligned(partial_rows * static_cast<std::size_t>(layer.head_dim_v) * sizeof(float));
  std::byte* const memory =
      workspace.reserve(partial_out + out_bytes + partial_rows * sizeof(float));
  workspace.device().copy_from_host(memory, upload.bytes().data(), upload.bytes().size());

  plan_.items = reinterpret_cast<const SplitKvItem*>(memory + items);
  plan_.num_items = static_cast<std::int32_t>(plan.items.size());
  plan_.counters = reinterpret_cast<std::int32_t*>(memory + counters);
  plan_.block_table = reinterpret_cast<const std::int32_t*>(memory + table);
  plan_.block_table_width = blocks.width;
  plan_.page_shift = std::countr_zero(static_cast<std::uint64_t>(pool.page_size));
  plan_.partial_out = reinterpret_cast<float*>(memory + partial_out);
  plan_.partial_lse = reinterpret_cast<float*>(memory + partial_out + out_bytes);
  plan_.partial_rows = plan.partial_rows;
  if (batch.forward_mode == ForwardMode::kTargetVerify && layer.causal) {
    expects(batch.device_batch != nullptr && batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    plan_.custom_mask = batch.device_batch->custom_mask;
    plan_.mask_indptr = batch.device_batch->mask_indptr;
    plan_.positions = batch.device_batch->positions;
  }
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const MlaKernel kernel{dtype, pool.dtype, many_rows_};
    if (mla_has_kernel(kernel)) prepare_mla(kernel);
  }
}

void MlaBackend::run(const AttentionIo& io, Stream& stream) const {
  if (plan_.num_items == 0) return;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  MlaParams p = plan_;
  set_tensors(p, io);
  p.k_page_stride = pool.page_stride_k * size_bytes(pool.dtype);  // blocks, not slots
  p.v_scale = pool.k_scale;  // V is the head of the K row, stored through K's scale
  launch_mla({io.q.dtype, pool.dtype, many_rows_}, p, stream.native());
}

}  // namespace attnbench
