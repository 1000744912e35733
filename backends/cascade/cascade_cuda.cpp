// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/cascade.h"

#include "backends/common/upload.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/index/csr.h"

namespace attnbench {
namespace {

SplitKvKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype, bool many_rows) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, many_rows};
}

}  // namespace

CascadeBackend::CascadeBackend() {
  info_ = SplitKvBackend().info();  // the same kernels, so the same numerics
  info_.name = "cascade";
  info_.description = "shared prefixes once for all, suffixes each, merged by LSE";
}

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
  many_prefix_rows_ = plan.many_prefix_rows;
  many_suffix_rows_ = plan.many_suffix_rows;

  Upload upload;
  const std::size_t prefix_items = upload.add(plan.prefix_items);
  const std::size_t suffix_items = upload.add(plan.suffix_items);
  const std::size_t rows = upload.add(plan.rows);
  const std::size_t counter = upload.add(std::vector<std::int32_t>{0});
  const std::size_t kv_indices = upload.add(build_csr(batch, whole_spans(batch)).kv_indices);
  const std::size_t partial_out = upload.bytes().size();
  const auto partials = static_cast<std::size_t>(plan.partial_rows());
  const auto dv = static_cast<std::size_t>(layer.head_dim_v);
  const std::size_t out_bytes = Upload::aligned(partials * dv * sizeof(float));
  std::byte* const memory = workspace.reserve(partial_out + out_bytes + partials * sizeof(float));
  workspace.device().copy_from_host(memory, upload.bytes().data(), upload.bytes().size());

  auto* const outs = reinterpret_cast<float*>(memory + partial_out);
  auto* const lses = reinterpret_cast<float*>(memory + partial_out + out_bytes);
  const auto set_pass = [&](SplitKvParams& pass, std::size_t items, std::size_t count,
                            std::int64_t tile_rows, std::int64_t first_row) {
    pass.items = reinterpret_cast<const SplitKvItem*>(memory + items);
    pass.num_items = static_cast<std::int32_t>(count);
    pass.counters = reinterpret_cast<std::int32_t*>(memory + counter);
    pass.kv_indices = reinterpret_cast<const std::int32_t*>(memory + kv_indices);
    pass.partial_out = outs + static_cast<std::size_t>(first_row) * dv;
    pass.partial_lse = lses + first_row;
    pass.partial_rows = static_cast<std::int32_t>(tile_rows);
  };
  set_pass(prefix_, prefix_items, plan.prefix_items.size(), plan.prefix_rows(), 0);
  set_pass(suffix_, suffix_items, plan.suffix_items.size(), plan.suffix_rows(),
           plan.prefix_partials * plan.prefix_rows());
  if (batch.forward_mode == ForwardMode::kTargetVerify) {
    expects(batch.device_batch != nullptr && batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    suffix_.custom_mask = batch.device_batch->custom_mask;  // every node sees the whole prefix
    suffix_.mask_indptr = batch.device_batch->mask_indptr;
    suffix_.positions = batch.device_batch->positions;
  }
  merge_.rows = reinterpret_cast<const CascadeRow*>(memory + rows);
  merge_.partial_out = outs;
  merge_.partial_lse = lses;
  merge_.counter = reinterpret_cast<std::int32_t*>(memory + counter);
  // The activations' type is not known before forward(); both may come.
  const DType stored = batch.token_to_kv_pool->dtype;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const bool many_rows : {many_prefix_rows_, many_suffix_rows_}) {
      const SplitKvKernel kernel = kernel_for(layer, dtype, stored, many_rows);
      if (splitkv_has_kernel(kernel)) prepare_splitkv(kernel);
    }
  }
}

void CascadeBackend::run(const AttentionIo& io, Stream& stream) const {
  if (suffix_.num_items == 0) return;
  const DType stored = io.batch->token_to_kv_pool->dtype;
  const auto launch = [&](SplitKvParams pass, bool many_rows) {
    set_tensors(pass, io);
    launch_splitkv(kernel_for(*io.layer, io.q.dtype, stored, many_rows), pass, stream.native());
  };
  if (prefix_.num_items > 0) launch(prefix_, many_prefix_rows_);
  launch(suffix_, many_suffix_rows_);

  CascadeMerge merge = merge_;
  const std::int64_t element = size_bytes(io.out.dtype);
  merge.sinks = io.sinks;  // once, here: the passes' results stay partial
  merge.tokens = io.batch->q_tokens();
  merge.heads_q = io.layer->heads_q;
  merge.head_dim_v = io.layer->head_dim_v;
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
