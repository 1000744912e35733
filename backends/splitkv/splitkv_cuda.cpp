// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "backends/common/kernels_in_build.h"
#include "backends/common/upload.h"
#include "backends/splitkv/info.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/device/cuda/check.cuh"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

SplitKvKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype, bool many_rows) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, many_rows};
}

}  // namespace

SplitKvBackend::SplitKvBackend(SplitRule rule) : info_(splitkv_info(rule)), rule_(rule) {}

// Tensor cores take q and k as they are stored, fp8 widened to the type of the activations, which
// holds it: no operand is rounded. Weights are packed in that type; all else is f32.
Numerics SplitKvBackend::numerics(const Case& c) const { return {.p = c.dtype}; }

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
    return Support::no(no_kernel_reason("head dims 64, 96, 128, 256 and 192/128 only"));
  }
  return Support::yes();
}

SplitKvBackend::Planned SplitKvBackend::place(Workspace& workspace, DeviceRoom& memory,
                                              const SplitKvRoom& room, std::int64_t requests,
                                              std::int64_t keys, const AttentionLayer& layer) {
  const std::int64_t num_counters = room.tiles * layer.heads_kv;
  const std::int64_t partials = narrow_i32(room.partials * layer.heads_kv);
  const std::int64_t partial_rows = partials * room.partial_rows;
  const std::size_t counters = memory.add<std::int32_t>(num_counters);
  const std::size_t items = memory.add<SplitKvItem>(room.items);
  const std::size_t kv_indptr = memory.add<std::int32_t>(requests + 1);
  const std::size_t kv_last_page_len = memory.add<std::int32_t>(requests);
  const std::size_t kv_indices = memory.add<std::int32_t>(keys);
  const std::size_t partial_out = memory.add<float>(partial_rows * layer.head_dim_v);
  const std::size_t partial_lse = memory.add<float>(partial_rows);
  std::byte* const at = workspace.reserve(memory.bytes());
  const auto words = [&](std::size_t offset) {
    return reinterpret_cast<std::int32_t*>(at + offset);
  };

  Planned planned;
  planned.counters = at + counters;
  planned.num_counters = num_counters;
  planned.kv_indptr = words(kv_indptr);
  planned.kv_last_page_len = words(kv_last_page_len);
  planned.kv_indices = words(kv_indices);
  planned.params.items = reinterpret_cast<const SplitKvItem*>(at + items);
  planned.params.tiles = narrow_i32(room.tiles);
  planned.params.partials = narrow_i32(room.partials);
  planned.params.counters = words(counters);
  planned.params.kv_indices = planned.kv_indices;
  planned.params.partial_out = reinterpret_cast<float*>(at + partial_out);
  planned.params.partial_lse = reinterpret_cast<float*>(at + partial_lse);
  planned.params.partial_rows = room.partial_rows;
  return planned;
}

void SplitKvBackend::enqueue(SplitKvPlan plan, std::int64_t num_items, const ForwardBatch& batch,
                             void* stream) {
  expects(std::ssize(plan.items) <= num_items && plan.tiles <= now_.params.tiles &&
              plan.partials <= now_.params.partials,
          "a plan larger than its memory");
  now_.many_rows = plan.many_rows;
  now_.params.num_items = narrow_i32(num_items);
  plan.items.resize(static_cast<std::size_t>(num_items));  // an empty item has no rows
  Upload upload;
  static_cast<void>(
      upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(now_.num_counters), 0)));
  static_cast<void>(upload.add(plan.items));
  const auto on = static_cast<cudaStream_t>(stream);
  // From pageable memory: what is copied may go when the call returns.
  check_cuda(cudaMemcpyAsync(now_.counters, upload.bytes().data(), upload.bytes().size(),
                             cudaMemcpyHostToDevice, on),
             "cudaMemcpyAsync");
  expects(batch.device_batch != nullptr, "a GPU backend without the batch in GPU memory");
  enqueue_csr(*batch.device_batch, batch.batch_size, 1,
              {now_.kv_indptr, now_.kv_indices, now_.kv_last_page_len}, on);
}

void SplitKvBackend::prepare(const AttentionLayer& layer, DType stored) const {
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const SplitKvKernel kernel = kernel_for(layer, dtype, stored, now_.many_rows);
    if (splitkv_has_kernel(kernel)) prepare_splitkv(kernel);
  }
}

void SplitKvBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                           Workspace& workspace) {
  now_ = {};
  if (batch.batch_size == 0) return;
  SplitKvPlan plan = plan_splitkv(batch, layer, rule_, workspace.device().info().units);
  const SplitKvRoom room = plan.room();
  std::int64_t keys = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) keys += batch.kv_len(r);
  DeviceRoom memory;
  now_ = place(workspace, memory, room, batch.batch_size, keys, layer);
  enqueue(std::move(plan), room.items, batch, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr),
             "cudaStreamSynchronize");  // forward has its own stream
  if (checks_draft_tree(batch, layer)) {
    expects(batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    now_.params.custom_mask = batch.device_batch->custom_mask;
    now_.params.mask_indptr = batch.device_batch->mask_indptr;
    now_.params.positions = batch.device_batch->positions;
  }
  prepare(layer, batch.token_to_kv_pool->dtype);
}

void SplitKvBackend::init_cuda_graph_state(int max_bs, int max_num_tokens) {
  limits_ = CudaGraphLimits(max_bs, max_num_tokens);
  graph_ = {};
}

void SplitKvBackend::init_forward_metadata_capture_cuda_graph(const ForwardBatch& batch,
                                                              const AttentionLayer& layer,
                                                              Workspace& workspace) {
  limits_.admit(batch);
  multiprocessors_ = workspace.device().info().units;
  const auto room_of = [&](ForwardMode mode, std::int64_t q_len) {
    return splitkv_room({mode, limits_.max_bs(), q_len, limits_.max_kv_len()}, layer, rule_,
                        multiprocessors_);
  };
  const SplitKvRoom room = most_of(room_of(ForwardMode::kDecode, 1),
                                   room_of(ForwardMode::kTargetVerify, limits_.max_q_len()));
  DeviceRoom memory;
  graph_tree_ = GraphDraftTree(limits_, memory);
  const Planned planned = place(workspace, memory, room, limits_.max_bs(),
                                limits_.max_bs() * limits_.max_kv_len(), layer);
  expects(graph_.counters == nullptr || graph_.counters == planned.counters,
          "a second workspace for the CUDA graphs of one backend");
  graph_ = planned;
  graph_tree_.place(workspace.reserve(memory.bytes()));
  enqueue_in_graph(batch, layer, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  prepare(layer, batch.token_to_kv_pool->dtype);
}

void SplitKvBackend::init_forward_metadata_replay_cuda_graph(const ForwardBatch& batch,
                                                             const AttentionLayer& layer,
                                                             Stream& stream) {
  limits_.check(batch);
  enqueue_in_graph(batch, layer, stream.native());
}

void SplitKvBackend::enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer,
                                      void* stream) {
  now_ = graph_;
  const SplitKvRoom room =
      splitkv_room({batch.forward_mode, batch.batch_size, batch.q_len(0), limits_.max_kv_len()},
                   layer, rule_, multiprocessors_);
  enqueue(plan_splitkv(batch, layer, rule_, multiprocessors_), room.items, batch, stream);
  if (!checks_draft_tree(batch, layer)) return;
  graph_tree_.enqueue_copy(batch, stream);
  now_.params.custom_mask = graph_tree_.custom_mask();
  now_.params.mask_indptr = graph_tree_.mask_indptr();
  now_.params.positions = graph_tree_.positions();
}

void SplitKvBackend::run(const AttentionIo& io, Stream& stream) const {
  if (now_.params.num_items == 0) return;
  SplitKvParams p = now_.params;
  set_tensors(p, io);
  const DType stored = io.batch->token_to_kv_pool->dtype;
  launch_splitkv(kernel_for(*io.layer, io.q.dtype, stored, now_.many_rows), p, stream.native());
}

}  // namespace attnbench
