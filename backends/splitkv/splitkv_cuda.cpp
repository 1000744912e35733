// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "backends/common/upload.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

const char* suffix_of(SplitRule rule) {
  switch (rule) {
    case SplitRule::kFill:
      return "";
    case SplitRule::kStepped:
      return "_stepped";
    case SplitRule::kDynamic:
      return "_dynamic";
    case SplitRule::kFixedTile:
      return "_fixed";
  }
  return "";
}

SplitKvKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype, bool many_rows) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, many_rows};
}

}  // namespace

SplitKvBackend::SplitKvBackend(SplitRule rule) : rule_(rule) {
  info_.name = std::string("splitkv") + suffix_of(rule);
  info_.version = "1";
  info_.description = "tensor-core tiles through token indices, keys split, merged by LSE";
  info_.index_format = "kv_indptr/kv_indices";
  info_.device = DeviceKind::kCuda;
  // q.k: bf16, f16 and fp8 go into the tensor cores as they are stored, scales join the logits; so
  // no operand is rounded. Weights have the type of the activations, bf16 at worst.
  info_.numerics.qk_input = DType::kF32;
  info_.numerics.p = DType::kBF16;
  info_.numerics.accumulator = DType::kF32;
  info_.numerics.partial_out = DType::kF32;
  info_.numerics.max_splits = rule == SplitRule::kFill ? 1024 : 8;
  if (rule == SplitRule::kFixedTile) info_.numerics.max_splits = 1 << 16;
}

Support SplitKvBackend::supports(const Case& c, const Device& device) const {
  if (device.info().kind != DeviceKind::kCuda) return Support::no("runs on NVIDIA GPUs only");
  if (c.layer.kind != AttentionKind::kMha) {
    return Support::no("no MLA: K and V are read as separate heads (see mla)");
  }
  if (c.dtype != DType::kBF16 && c.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only: tensor cores round f32");
  }
  if (c.kv_cache.dtype != c.dtype && size_bytes(c.kv_cache.dtype) != 1) {
    return Support::no("KV cache in the activations' type, e4m3 or e5m2 only");
  }
  if (!splitkv_has_kernel(kernel_for(c.layer, c.dtype, c.kv_cache.dtype, false))) {
    return Support::no("head dims 64, 96, 128, 256 and 192/128 only");
  }
  return Support::yes();
}

void SplitKvBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                           Workspace& workspace) {
  plan_ = {};
  if (batch.batch_size == 0) return;
  const SplitKvPlan plan = plan_splitkv(batch, layer, rule_, workspace.device().info().units);
  many_rows_ = plan.many_rows;

  Upload upload;
  const std::size_t items = upload.add(plan.items);
  const std::size_t counters =
      upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(plan.tiles), 0));
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
  const std::int64_t partial_rows = std::int64_t{plan.partials} * plan.partial_rows;
  const std::size_t partial_out = reserve(partial_rows * layer.head_dim_v);
  const std::size_t partial_lse = reserve(partial_rows);
  std::byte* const memory = workspace.reserve(bytes);
  workspace.device().copy_from_host(memory, upload.bytes().data(), upload.bytes().size());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(memory + at); };

  expects(batch.device_batch != nullptr, "a GPU backend without the batch in GPU memory");
  enqueue_csr(*batch.device_batch, batch.batch_size, 1,
              {words(kv_indptr), words(kv_indices), words(kv_last_page_len)}, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr),
             "cudaStreamSynchronize");  // forward has its own stream

  plan_.items = reinterpret_cast<const SplitKvItem*>(memory + items);
  plan_.num_items = static_cast<std::int32_t>(plan.items.size());
  plan_.counters = words(counters);
  plan_.kv_indices = words(kv_indices);
  plan_.partial_out = reinterpret_cast<float*>(memory + partial_out);
  plan_.partial_lse = reinterpret_cast<float*>(memory + partial_lse);
  plan_.partial_rows = plan.partial_rows;

  if (batch.forward_mode == ForwardMode::kTargetVerify && layer.causal &&
      !layer.is_cross_attention) {
    expects(batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    plan_.custom_mask = batch.device_batch->custom_mask;
    plan_.mask_indptr = batch.device_batch->mask_indptr;
    plan_.positions = batch.device_batch->positions;
  }
  const KvPool& pool = *batch.token_to_kv_pool;
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const SplitKvKernel kernel = kernel_for(layer, dtype, pool.dtype, many_rows_);
    if (splitkv_has_kernel(kernel)) prepare_splitkv(kernel);
  }
}

void SplitKvBackend::run(const AttentionIo& io, Stream& stream) const {
  if (plan_.num_items == 0) return;
  SplitKvParams p = plan_;
  set_tensors(p, io);
  const DType stored = io.batch->token_to_kv_pool->dtype;
  launch_splitkv(kernel_for(*io.layer, io.q.dtype, stored, many_rows_), p, stream.native());
}

}  // namespace attnbench
