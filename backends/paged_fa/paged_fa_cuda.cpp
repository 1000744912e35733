// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/paged_fa.h"

#include <cstring>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/varlen.h"

namespace attnbench {
namespace {

constexpr std::int64_t kAlignment = 256;

/// Arrays placed one after another in one block of device memory: those with contents first, then
/// scratch.
class Block {
 public:
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + aligned(values.size() * sizeof(T)));
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }
  std::size_t add_scratch(std::int64_t bytes) {
    const std::size_t at = bytes_.size() + scratch_;
    scratch_ += aligned(static_cast<std::size_t>(bytes));
    return at;
  }
  [[nodiscard]] std::byte* upload(Workspace& workspace) const {
    std::byte* const memory = workspace.reserve(bytes_.size() + scratch_);
    workspace.device().copy_from_host(memory, bytes_.data(), bytes_.size());
    return memory;
  }

 private:
  static std::size_t aligned(std::size_t bytes) {
    return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), kAlignment));
  }
  std::vector<std::byte> bytes_;
  std::size_t scratch_ = 0;
};

PagedFaKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype,
                         PagedFaTile tile) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, tile};
}

/// For activations of `dtype`, or of the other type where the cache does not tell.
bool has_many_rows(const AttentionLayer& layer, DType kv_dtype) {
  const DType dtype = kv_dtype == DType::kF16 ? DType::kF16 : DType::kBF16;
  return paged_fa_has_kernel(kernel_for(layer, dtype, kv_dtype, PagedFaTile::kMany));
}

}  // namespace

PagedFaBackend::PagedFaBackend() {
  info_.name = "paged_fa";
  info_.version = "1";
  info_.description = "FlashAttention's design: tensor-core tiles over pages, varlen and KV cache";
  info_.index_format = "page_table, cache_seqlens, cu_seqlens_q";
  info_.device = DeviceKind::kCuda;
  // q.k: bf16, f16 and fp8 go into the tensor cores as they are stored, scales join the logits; so
  // no operand is rounded. Weights have the type of the activations, bf16 at worst.
  info_.numerics.qk_input = DType::kF32;
  info_.numerics.p = DType::kBF16;
  info_.numerics.accumulator = DType::kF32;
  info_.numerics.partial_out = DType::kF32;
  info_.numerics.max_splits = 1024;
}

Support PagedFaBackend::supports(const Case& c, const Device& device) const {
  if (device.info().kind != DeviceKind::kCuda) return Support::no("runs on NVIDIA GPUs only");
  if (c.layer.kind != AttentionKind::kMha) {
    return Support::no("no MLA: K and V are read as separate heads (see mla)");
  }
  if (c.layer.has_alibi) return Support::no("no ALiBi, as FlashAttention 3 (see splitkv)");
  if (c.dtype != DType::kBF16 && c.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only: tensor cores round f32");
  }
  if (c.kv_cache.dtype != c.dtype && size_bytes(c.kv_cache.dtype) != 1) {
    return Support::no("KV cache in the activations' type, e4m3 or e5m2 only");
  }
  if (!paged_fa_has_kernel(kernel_for(c.layer, c.dtype, c.kv_cache.dtype, PagedFaTile::kFew))) {
    return Support::no("head dims 64, 96, 128, 256 and 192/128 only");
  }
  return Support::yes();
}

void PagedFaBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                           Workspace& workspace) {
  plan_ = {};
  launches_.clear();
  if (batch.batch_size == 0) return;
  const KvPool& pool = *batch.token_to_kv_pool;
  const PagedFaProblem problem = paged_fa_problem(batch, layer, has_many_rows(layer, pool.dtype),
                                                  workspace.device().info().units);
  const PagedFaPlan plan = plan_paged_fa(problem);
  const FlashAttentionMetadata metadata = build_flash_attention_metadata(batch, pool.page_size);
  launches_ = plan.launches;

  Block block;
  const std::size_t items = block.add(plan.items);
  const std::size_t counters = block.add(std::vector<std::int32_t>(
      static_cast<std::size_t>(plan.tiles) * static_cast<std::size_t>(layer.heads_kv), 0));
  const std::size_t taken = block.add(std::vector<std::int32_t>(launches_.size(), 0));
  const std::size_t page_table = block.add(metadata.page_table.page_table);
  const std::size_t cache_seqlens = block.add(metadata.page_table.cache_seqlens);
  const std::size_t cu_seqlens_q = block.add(metadata.varlen.cu_seqlens_q);
  const std::int64_t partial_rows =
      static_cast<std::int64_t>(plan.partials) * layer.heads_kv * plan.partial_rows;
  const std::size_t partial_out =
      block.add_scratch(partial_rows * layer.head_dim_v * static_cast<std::int64_t>(sizeof(float)));
  const std::size_t partial_lse =
      block.add_scratch(partial_rows * static_cast<std::int64_t>(sizeof(float)));
  std::byte* const memory = block.upload(workspace);

  plan_.items = reinterpret_cast<const PagedFaItem*>(memory + items);
  plan_.counters = reinterpret_cast<std::int32_t*>(memory + counters);
  plan_.taken = reinterpret_cast<std::int32_t*>(memory + taken);
  plan_.page_table = reinterpret_cast<const std::int32_t*>(memory + page_table);
  plan_.page_table_stride = metadata.page_table.width;
  plan_.cache_seqlens = reinterpret_cast<const std::int32_t*>(memory + cache_seqlens);
  plan_.cu_seqlens_q = reinterpret_cast<const std::int32_t*>(memory + cu_seqlens_q);
  plan_.partial_out = reinterpret_cast<float*>(memory + partial_out);
  plan_.partial_lse = reinterpret_cast<float*>(memory + partial_lse);
  plan_.partial_rows = plan.partial_rows;

  if (batch.forward_mode == ForwardMode::kTargetVerify && problem.causal) {
    expects(batch.device_batch != nullptr && batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    plan_.custom_mask = batch.device_batch->custom_mask;
    plan_.mask_indptr = batch.device_batch->mask_indptr;
    plan_.positions = batch.device_batch->positions;
  }
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const PagedFaPlan::Launch& launch : launches_) {
      const PagedFaKernel kernel = kernel_for(layer, dtype, pool.dtype, launch.tile);
      if (paged_fa_has_kernel(kernel)) prepare_paged_fa(kernel);
    }
  }
}

void PagedFaBackend::run(const AttentionIo& io, Stream& stream) const {
  const AttentionLayer& layer = *io.layer;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const std::int64_t element = size_bytes(io.q.dtype), stored = size_bytes(pool.dtype);
  PagedFaParams p = plan_;
  p.q = io.q.data;
  p.q_token_stride = io.q.stride[0] * element;
  p.q_head_stride = io.q.stride[1] * element;
  p.out = io.out.data;
  p.out_token_stride = io.out.stride[0] * element;
  p.out_head_stride = io.out.stride[1] * element;
  p.lse = io.lse.data;
  p.lse_token_stride = io.lse.stride[0] * size_bytes(io.lse.dtype);
  p.lse_head_stride = io.lse.stride[1] * size_bytes(io.lse.dtype);
  p.sinks = io.sinks;

  p.k = pool.k;
  p.v = pool.v;
  p.page_size = narrow_i32(pool.page_size);
  p.k_page_stride = pool.page_stride_k * stored;
  p.k_token_stride = pool.token_stride_k * stored;
  p.k_head_stride = pool.head_stride_k * stored;
  p.v_page_stride = pool.page_stride_v * stored;
  p.v_token_stride = pool.token_stride_v * stored;
  p.v_head_stride = pool.head_stride_v * stored;

  p.heads_kv = layer.heads_kv;
  p.group = layer.group_size();
  p.causal = layer.causal && !layer.is_cross_attention;
  p.window = narrow_i32(layer.sliding_window_size);
  p.scale = static_cast<float>(layer.scale) * pool.k_scale;
  p.softcap = static_cast<float>(layer.logit_cap);
  p.v_scale = pool.v_scale;
  for (const PagedFaPlan::Launch& launch : launches_) {
    p.items = plan_.items + launch.first_item;
    p.num_items = launch.num_items;
    p.heads_together = launch.heads_together;
    launch_paged_fa(kernel_for(layer, io.q.dtype, pool.dtype, launch.tile), p, stream.native());
    ++p.taken;
  }
}

}  // namespace attnbench
