// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/paged_fa/paged_fa.h"

#include <algorithm>
#include <utility>

#include "backends/common/upload.h"
#include "backends/paged_fa/info.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/device/cuda/check.cuh"
#include "lib/index/csr.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

PagedFaKernel kernel_for(const AttentionLayer& layer, DType dtype, DType kv_dtype,
                         PagedFaTile tile) {
  return {dtype, kv_dtype, layer.head_dim_qk, layer.head_dim_v, tile};
}

/// Launches of a step's different tiles, at most: each has a counter of its own.
constexpr std::int64_t kMostLaunches = 3;

/// For activations of `dtype`, or of the other type where the cache does not tell.
bool has_many_rows(const AttentionLayer& layer, DType kv_dtype) {
  const DType dtype = kv_dtype == DType::kF16 ? DType::kF16 : DType::kBF16;
  return paged_fa_has_kernel(kernel_for(layer, dtype, kv_dtype, PagedFaTile::kMany));
}

}  // namespace

PagedFaBackend::PagedFaBackend() : info_(paged_fa_info()) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics PagedFaBackend::numerics(const Case& c) const { return {.p = c.dtype}; }

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
    return Support::no(no_kernel_reason("head dims 64, 96, 128, 256 and 192/128 only"));
  }
  return Support::yes();
}

PagedFaBackend::Planned PagedFaBackend::place(Workspace& workspace, DeviceRoom& memory,
                                              const PagedFaRoom& room, std::int64_t requests,
                                              std::int64_t width, const AttentionLayer& layer) {
  const std::int64_t partial_rows = room.partials * layer.heads_kv * room.partial_rows;
  Planned planned;
  planned.requests = requests;
  planned.counters = kMostLaunches + room.tiles * layer.heads_kv;
  const std::size_t counters = memory.add<std::int32_t>(planned.counters);
  const std::size_t cache_seqlens = memory.add<std::int32_t>(requests);
  const std::size_t cu_seqlens_q = memory.add<std::int32_t>(requests + 1);
  const std::size_t items = memory.add<PagedFaItem>(room.items);
  const std::size_t page_table = memory.add<std::int32_t>(requests * width);
  const std::size_t partial_out = memory.add<float>(partial_rows * layer.head_dim_v);
  const std::size_t partial_lse = memory.add<float>(partial_rows);
  std::byte* const block = workspace.reserve(memory.bytes());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(block + at); };
  planned.memory = block + counters;

  planned.page_table = words(page_table);
  PagedFaParams& p = planned.params;
  p.taken = words(counters);
  p.counters = p.taken + kMostLaunches;
  p.cache_seqlens = words(cache_seqlens);
  p.cu_seqlens_q = words(cu_seqlens_q);
  p.items = reinterpret_cast<const PagedFaItem*>(block + items);
  p.page_table = planned.page_table;
  p.page_table_stride = width;
  p.partial_out = reinterpret_cast<float*>(block + partial_out);
  p.partial_lse = reinterpret_cast<float*>(block + partial_lse);
  p.partial_rows = room.partial_rows;
  return planned;
}

void PagedFaBackend::enqueue(PagedFaPlan plan, std::int64_t num_items, const ForwardBatch& batch,
                             void* stream) {
  expects(std::ssize(plan.items) <= num_items, "a plan larger than its memory");
  const auto requests = static_cast<std::size_t>(now_.requests);
  plan.items.resize(static_cast<std::size_t>(num_items));  // an empty item has no rows
  std::vector<std::int32_t> cache_seqlens;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    cache_seqlens.push_back(narrow_i32(batch.kv_len(r)));
  }
  std::vector<std::int32_t> cu_seqlens_q = qo_indptr(batch);
  cache_seqlens.resize(requests);
  cu_seqlens_q.resize(requests + 1);
  Upload upload;  // as placed
  upload.add(std::vector<std::int32_t>(static_cast<std::size_t>(now_.counters), 0));
  upload.add(cache_seqlens);
  upload.add(cu_seqlens_q);
  upload.add(plan.items);
  const auto on = static_cast<cudaStream_t>(stream);
  // From pageable memory: what is copied may go when the call returns.
  check_cuda(cudaMemcpyAsync(now_.memory, upload.bytes().data(), upload.bytes().size(),
                             cudaMemcpyHostToDevice, on),
             "cudaMemcpyAsync");
  expects(batch.device_batch != nullptr, "a GPU backend without the batch in GPU memory");
  enqueue_page_table(*batch.device_batch, batch.batch_size, batch.token_to_kv_pool->page_size,
                     now_.params.page_table_stride, -1, now_.page_table, on);
}

void PagedFaBackend::prepare(const AttentionLayer& layer, DType stored) const {
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const PagedFaPlan::Launch& launch : now_.launches) {
      const PagedFaKernel kernel = kernel_for(layer, dtype, stored, launch.tile);
      if (paged_fa_has_kernel(kernel)) prepare_paged_fa(kernel);
    }
  }
}

void PagedFaBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                           Workspace& workspace) {
  now_ = {};
  if (batch.batch_size == 0) return;
  const KvPool& pool = *batch.token_to_kv_pool;
  PagedFaPlan plan = plan_paged_fa(paged_fa_problem(batch, layer, has_many_rows(layer, pool.dtype),
                                                    workspace.device().info().units));
  std::int64_t width = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    width = std::max(width, ceil_div(batch.kv_len(r), pool.page_size));
  }
  const PagedFaRoom room = plan.room();
  DeviceRoom memory;
  now_ = place(workspace, memory, room, batch.batch_size, width, layer);
  now_.launches = plan.launches;
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
  prepare(layer, pool.dtype);
}

void PagedFaBackend::init_cuda_graph_state(int max_bs, int max_num_tokens) {
  limits_ = CudaGraphLimits(max_bs, max_num_tokens);
  graph_ = {};
}

void PagedFaBackend::init_forward_metadata_capture_cuda_graph(const ForwardBatch& batch,
                                                              const AttentionLayer& layer,
                                                              Workspace& workspace) {
  limits_.admit(batch);
  multiprocessors_ = workspace.device().info().units;
  const KvPool& pool = *batch.token_to_kv_pool;
  const PagedFaProblem like =
      paged_fa_problem(batch, layer, has_many_rows(layer, pool.dtype), multiprocessors_);
  const auto room_of = [&](std::int64_t q_len) {
    return paged_fa_uniform(limits_.max_bs(), q_len, like).room;
  };
  DeviceRoom memory;
  graph_tree_ = GraphDraftTree(limits_, memory);
  const Planned planned =
      place(workspace, memory, most_of(room_of(1), room_of(limits_.max_q_len())), limits_.max_bs(),
            ceil_div(limits_.max_kv_len(), pool.page_size), layer);
  expects(graph_.memory == nullptr || graph_.memory == planned.memory,
          "a second workspace for the CUDA graphs of one backend");
  graph_ = planned;
  graph_tree_.place(workspace.reserve(memory.bytes()));
  enqueue_in_graph(batch, layer, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  prepare(layer, pool.dtype);
}

void PagedFaBackend::init_forward_metadata_replay_cuda_graph(const ForwardBatch& batch,
                                                             const AttentionLayer& layer,
                                                             Stream& stream) {
  limits_.check(batch);
  enqueue_in_graph(batch, layer, stream.native());
}

void PagedFaBackend::enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer,
                                      void* stream) {
  now_ = graph_;
  const PagedFaProblem problem = paged_fa_problem(
      batch, layer, has_many_rows(layer, batch.token_to_kv_pool->dtype), multiprocessors_);
  const PagedFaUniform uniform = paged_fa_uniform(batch.batch_size, batch.q_len(0), problem);
  // The same launches whatever the keys; which heads they take side by side changes no result.
  PagedFaPlan plan = plan_paged_fa(problem);
  place_in(uniform, plan);
  now_.launches = plan.launches;
  enqueue(std::move(plan), uniform.room.items, batch, stream);
  if (!checks_draft_tree(batch, layer)) return;
  graph_tree_.enqueue_copy(batch, stream);
  now_.params.custom_mask = graph_tree_.custom_mask();
  now_.params.mask_indptr = graph_tree_.mask_indptr();
  now_.params.positions = graph_tree_.positions();
}

void PagedFaBackend::run(const AttentionIo& io, Stream& stream) const {
  const AttentionLayer& layer = *io.layer;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const std::int64_t element = size_bytes(io.q.dtype), stored = size_bytes(pool.dtype);
  PagedFaParams p = now_.params;
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
  p.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  p.scale = static_cast<float>(layer.scale) * pool.k_scale;
  p.softcap = static_cast<float>(layer.logit_cap);
  p.v_scale = pool.v_scale;
  for (const PagedFaPlan::Launch& launch : now_.launches) {
    p.items = now_.params.items + launch.first_item;
    p.num_items = launch.num_items;
    p.heads_together = launch.heads_together;
    launch_paged_fa(kernel_for(layer, io.q.dtype, pool.dtype, launch.tile), p, stream.native());
    ++p.taken;
  }
}

}  // namespace attnbench
