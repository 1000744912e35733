// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "backends/common/kernels_in_build.h"
#include "backends/common/upload.h"
#include "backends/mla/info.h"
#include "backends/mla/mla.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/tensors.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/device/cuda/check.cuh"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

constexpr int kDk = 576;
constexpr int kDv = 512;

}  // namespace

MlaTile MlaBackend::tile_for(std::int64_t rows, DType stored) const {
  // Latents of 16 bits have the activations' type. Few rows leave the tensor cores half empty, but
  // they are not what such a batch waits for.
  if (warpgroups_ && mla_has_kernel({stored, stored, MlaTile::kWarpgroups})) {
    return MlaTile::kWarpgroups;
  }
  return rows <= kSplitKvFewRows ? MlaTile::kFew : MlaTile::kMany;
}

MlaTile MlaBackend::tile_of(const ForwardBatch& batch, const AttentionLayer& layer) const {
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * layer.group_size());
  }
  return tile_for(most_rows, batch.token_to_kv_pool->dtype);
}

MlaRoom MlaBackend::uniform_room(std::int64_t requests, std::int64_t q_len,
                                 const AttentionLayer& layer, DType stored) const {
  const std::int64_t rows = q_len * layer.group_size();
  return mla_room(tile_for(rows, stored), requests, rows, multiprocessors_);
}

MlaBackend::MlaBackend(bool warpgroups) : info_(mla_info()), warpgroups_(warpgroups) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics MlaBackend::numerics(const Case& c) const { return {.p = c.dtype}; }

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
    return Support::no(
        no_kernel_reason("activations in bf16 or f16, KV cache in the same type, e4m3 or e5m2"));
  }
  return Support::yes();
}

MlaBackend::Planned MlaBackend::place(Workspace& workspace, DeviceRoom& memory, const MlaRoom& room,
                                      std::int64_t requests, std::int64_t width) {
  const std::int64_t partial_rows = room.partials * room.partial_rows;
  const std::size_t part_begin = memory.add<std::int32_t>(room.parts + 1);
  const std::size_t merges = memory.add<SplitKvItem>(room.merges);
  const std::size_t items = memory.add<SplitKvItem>(room.items);
  const std::size_t block_table = memory.add<std::int32_t>(requests * width);
  const std::size_t partial_out = memory.add<float>(partial_rows * kDv);
  const std::size_t partial_lse = memory.add<float>(partial_rows);
  std::byte* const block = workspace.reserve(memory.bytes());
  const auto words = [&](std::size_t at) { return reinterpret_cast<std::int32_t*>(block + at); };

  Planned planned;
  planned.memory = block + part_begin;
  planned.parts = room.parts;
  planned.merges = room.merges;
  planned.block_table = words(block_table);
  MlaParams& p = planned.params;
  p.part_begin = words(part_begin);
  p.merges = reinterpret_cast<const SplitKvItem*>(block + merges);
  p.items = reinterpret_cast<const SplitKvItem*>(block + items);
  p.block_table = planned.block_table;
  p.block_table_width = width;
  p.partial_out = reinterpret_cast<float*>(block + partial_out);
  p.partial_lse = reinterpret_cast<float*>(block + partial_lse);
  return planned;
}

void MlaBackend::enqueue(MlaPlan plan, const MlaRoom& room, const ForwardBatch& batch,
                         void* stream) {
  expects(std::ssize(plan.items) <= room.items && std::ssize(plan.merges) <= room.merges &&
              plan.partials <= room.partials && plan.partial_rows <= room.partial_rows,
          "a plan larger than its memory");
  const std::int64_t page_size = batch.token_to_kv_pool->page_size;
  MlaParams& p = now_.params;
  p.num_items = narrow_i32(room.items);
  p.parts = narrow_i32(room.parts);
  p.lanes = plan.lanes;
  p.num_merges = narrow_i32(room.merges);
  p.partial_rows = room.partial_rows;
  p.page_shift = std::countr_zero(static_cast<std::uint64_t>(page_size));

  plan.items.resize(static_cast<std::size_t>(room.items));  // an empty item has no rows
  plan.merges.resize(static_cast<std::size_t>(now_.merges));
  plan.part_begin.resize(static_cast<std::size_t>(now_.parts + 1), plan.part_begin.back());
  Upload upload;  // as placed
  upload.add(plan.part_begin);
  upload.add(plan.merges);
  upload.add(plan.items);
  const auto on = static_cast<cudaStream_t>(stream);
  // From pageable memory: what is copied may go when the call returns.
  check_cuda(cudaMemcpyAsync(now_.memory, upload.bytes().data(), upload.bytes().size(),
                             cudaMemcpyHostToDevice, on),
             "cudaMemcpyAsync");
  expects(batch.device_batch != nullptr, "a GPU backend without the batch in GPU memory");
  enqueue_page_table(*batch.device_batch, batch.batch_size, page_size, p.block_table_width, -1,
                     now_.block_table, on);
}

void MlaBackend::prepare(DType stored) const {
  if (now_.tile == MlaTile::kWarpgroups) return prepare_mla({stored, stored, now_.tile});
  // The activations' type is not known before forward(); both may come.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const MlaKernel kernel{dtype, stored, now_.tile};
    if (mla_has_kernel(kernel)) prepare_mla(kernel);
  }
}

void MlaBackend::init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                       Workspace& workspace) {
  now_ = {};
  if (batch.batch_size == 0) return;
  const KvPool& pool = *batch.token_to_kv_pool;
  multiprocessors_ = workspace.device().info().units;
  const MlaTile tile = tile_of(batch, layer);
  MlaPlan plan = plan_mla(batch, layer, tile, multiprocessors_);
  std::int64_t width = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    width = std::max(width, ceil_div(batch.kv_len(r), pool.page_size));
  }
  const MlaRoom room = plan.room();
  DeviceRoom memory;
  now_ = place(workspace, memory, room, batch.batch_size, width);
  now_.tile = tile;
  enqueue(std::move(plan), room, batch, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr),
             "cudaStreamSynchronize");  // forward has its own stream
  if (checks_draft_tree(batch, layer)) {
    expects(batch.device_batch->custom_mask != nullptr,
            "a draft tree without its mask on the device");
    now_.params.custom_mask = batch.device_batch->custom_mask;
    now_.params.mask_indptr = batch.device_batch->mask_indptr;
    now_.params.positions = batch.device_batch->positions;
  }
  prepare(pool.dtype);
}

void MlaBackend::init_cuda_graph_state(int max_bs, int max_num_tokens) {
  limits_ = CudaGraphLimits(max_bs, max_num_tokens);
  graph_ = {};
}

void MlaBackend::init_forward_metadata_capture_cuda_graph(const ForwardBatch& batch,
                                                          const AttentionLayer& layer,
                                                          Workspace& workspace) {
  limits_.admit(batch);
  multiprocessors_ = workspace.device().info().units;
  const KvPool& pool = *batch.token_to_kv_pool;
  const auto room_of = [&](std::int64_t q_len) {
    return uniform_room(limits_.max_bs(), q_len, layer, pool.dtype);
  };
  DeviceRoom memory;
  graph_tree_ = GraphDraftTree(limits_, memory);
  const Planned planned =
      place(workspace, memory, most_of(room_of(1), room_of(limits_.max_q_len())), limits_.max_bs(),
            ceil_div(limits_.max_kv_len(), pool.page_size));
  expects(graph_.memory == nullptr || graph_.memory == planned.memory,
          "a second workspace for the CUDA graphs of one backend");
  graph_ = planned;
  graph_tree_.place(workspace.reserve(memory.bytes()));
  enqueue_in_graph(batch, layer, nullptr);
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  prepare(pool.dtype);
}

void MlaBackend::init_forward_metadata_replay_cuda_graph(const ForwardBatch& batch,
                                                         const AttentionLayer& layer,
                                                         Stream& stream) {
  limits_.check(batch);
  enqueue_in_graph(batch, layer, stream.native());
}

void MlaBackend::enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer,
                                  void* stream) {
  now_ = graph_;
  now_.tile = tile_of(batch, layer);
  enqueue(plan_mla(batch, layer, now_.tile, multiprocessors_),
          uniform_room(batch.batch_size, batch.q_len(0), layer, batch.token_to_kv_pool->dtype),
          batch, stream);
  now_.params.lanes = mla_lanes(batch.q_len(0) * layer.group_size());
  if (!checks_draft_tree(batch, layer)) return;
  graph_tree_.enqueue_copy(batch, stream);
  now_.params.custom_mask = graph_tree_.custom_mask();
  now_.params.mask_indptr = graph_tree_.mask_indptr();
  now_.params.positions = graph_tree_.positions();
}

void MlaBackend::run(const AttentionIo& io, Stream& stream) const {
  if (now_.params.num_items == 0) return;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  MlaParams p = now_.params;
  set_tensors(p, io);
  p.k_page_stride = pool.page_stride_k * size_bytes(pool.dtype);  // blocks, not slots
  p.v_scale = pool.k_scale;  // V is the head of the K row, stored through K's scale
  launch_mla({io.q.dtype, pool.dtype, now_.tile}, p, stream.native());
}

}  // namespace attnbench
