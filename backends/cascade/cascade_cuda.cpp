// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/cascade.h"

#include <algorithm>

#include "backends/cascade/info.h"
#include "backends/common/upload.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

SplitKvKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype, bool many_rows) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, many_rows};
}

}  // namespace

CascadeBackend::CascadeBackend() : info_(cascade_info()) {}

// The same kernels, merged in f32.
Numerics CascadeBackend::numerics(const Case& c) const { return SplitKvBackend().numerics(c); }

Support CascadeBackend::supports(const Case& c, const Device& device) const {
  if (const Support kernels = SplitKvBackend().supports(c, device); !kernels) return kernels;
  if (c.layer.is_cross_attention || !c.layer.causal)
    return Support::no("causal self-attention only");
  if (c.layer.sliding_window_size >= 0)
    return Support::no("no sliding window: a prefix is seen whole");
  if (c.layer.has_alibi) return Support::no("no ALiBi: a prefix pass has no query positions");
  return Support::yes();
}

void CascadeBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                           Workspace& workspace) {
  prefix_ = suffix_ = {};
  merge_ = {};
  if (batch.batch_size == 0) return;
  const CascadePlan plan = plan_cascade(batch, layer, workspace.device().info().units);

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
  const auto partial_rows = [&](const SplitKvPlan& pass) {
    return std::int64_t{pass.partials} * layer.heads_kv * pass.partial_rows;
  };
  const std::size_t prefix_out = reserve(partial_rows(plan.prefix) * layer.head_dim_v);
  const std::size_t prefix_lse = reserve(partial_rows(plan.prefix));
  const std::size_t suffix_out = reserve(partial_rows(plan.suffix) * layer.head_dim_v);
  const std::size_t suffix_lse = reserve(partial_rows(plan.suffix));
  std::byte* const memory = workspace.reserve(bytes);
  workspace.device().copy_from_host(memory, upload.bytes().data(), upload.bytes().size());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(memory + at); };
  const auto floats = [&](std::size_t at) { return reinterpret_cast<float*>(memory + at); };

  expects(batch.device_batch != nullptr, "a GPU backend without the batch in GPU memory");
  enqueue_csr(*batch.device_batch, batch.batch_size, 1,
              {words(kv_indptr), words(kv_indices), words(kv_last_page_len)}, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr),
             "cudaStreamSynchronize");  // forward has its own stream

  const auto pass_of = [&](const SplitKvPlan& planned, std::size_t items, std::size_t out,
                           std::size_t lse) {
    Pass pass;
    pass.many_rows = planned.many_rows;
    pass.params.items = reinterpret_cast<const SplitKvItem*>(memory + items);
    pass.params.num_items = static_cast<std::int32_t>(planned.items.size());
    pass.params.tiles = planned.tiles;
    pass.params.partials = planned.partials;
    pass.params.counters = words(counters);
    pass.params.kv_indices = words(kv_indices);
    pass.params.partial_out = floats(out);
    pass.params.partial_lse = floats(lse);
    pass.params.partial_rows = planned.partial_rows;
    return pass;
  };
  prefix_ = pass_of(plan.prefix, prefix_items, prefix_out, prefix_lse);
  suffix_ = pass_of(plan.suffix, suffix_items, suffix_out, suffix_lse);
  if (batch.forward_mode == ForwardMode::kTargetVerify) {
    expects(batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    // Of the suffix only: every node sees the whole prefix.
    suffix_.params.custom_mask = batch.device_batch->custom_mask;
    suffix_.params.mask_indptr = batch.device_batch->mask_indptr;
    suffix_.params.positions = batch.device_batch->positions;
  }

  merge_.tiles = reinterpret_cast<const CascadeTile*>(memory + tiles);
  merge_.num_tiles = static_cast<std::int32_t>(plan.tiles.size());
  for (const CascadeTile& tile : plan.tiles) {
    merge_.tile_rows = std::max(merge_.tile_rows, tile.rows);
  }
  merge_.prefix_tile_rows = plan.prefix.many_rows ? kSplitKvManyRows : kSplitKvFewRows;
  merge_.prefix = {floats(prefix_out), floats(prefix_lse), plan.prefix.partials,
                   plan.prefix.partial_rows};
  merge_.suffix = {floats(suffix_out), floats(suffix_lse), plan.suffix.partials,
                   plan.suffix.partial_rows};
  merge_.heads_kv = layer.heads_kv;
  merge_.group = layer.group_size();
  merge_.head_dim_v = layer.head_dim_v;

  // The activations' type is not known before forward(); both may come.
  const DType stored = batch.token_to_kv_pool->dtype;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const bool many_rows : {prefix_.many_rows, suffix_.many_rows}) {
      const SplitKvKernel kernel = kernel_for(layer, dtype, stored, many_rows);
      if (splitkv_has_kernel(kernel)) prepare_splitkv(kernel);
    }
  }
}

void CascadeBackend::run(const AttentionIo& io, Stream& stream) const {
  const DType stored = io.batch->token_to_kv_pool->dtype;
  for (const Pass& pass : {prefix_, suffix_}) {
    if (pass.params.num_items == 0) continue;
    SplitKvParams params = pass.params;
    set_tensors(params, io);
    launch_splitkv(kernel_for(*io.layer, io.q.dtype, stored, pass.many_rows), params,
                   stream.native());
  }
  if (merge_.num_tiles == 0) return;

  CascadeMerge merge = merge_;
  const std::int64_t element = size_bytes(io.out.dtype);
  merge.sinks = io.sinks;  // once, here: the passes' results stay partial
  merge.v_scale = io.batch->token_to_kv_pool->v_scale;
  merge.dtype = io.out.dtype;
  merge.out = io.out.data;
  merge.out_token_stride = io.out.stride[0] * element;
  merge.out_head_stride = io.out.stride[1] * element;
  merge.lse = io.lse.data;
  merge.lse_token_stride = io.lse.stride[0] * size_bytes(io.lse.dtype);
  merge.lse_head_stride = io.lse.stride[1] * size_bytes(io.lse.dtype);
  launch_cascade_merge(merge, stream.native());
}

}  // namespace attnbench
