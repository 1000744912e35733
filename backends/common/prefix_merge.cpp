// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/prefix_merge.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/common/made_indices.h"
#include "backends/common/no_recurrent.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

/// Of results that wait for the merge: kernels of a GPU write outputs in the activations' type
/// alone, as the engines' do.
DType merged_type(const Backend& kernels, const Problem& problem) {
  return kernels.info().device == DeviceKind::kCpu ? DType::kF32 : problem.dtype;
}

std::int64_t prefix_len(const ForwardBatch& batch, std::int64_t r) {
  return batch.kv_len(r) - batch.q_len(r);
}

std::unique_ptr<PartStep> prefix_step(const ForwardBatch& whole) {
  auto step = std::make_unique<PartStep>();
  step->problem = prefix_problem(*whole.problem);
  step->batch = whole;
  ForwardBatch& batch = step->batch;
  batch.problem = &step->problem;
  batch.forward_mode = step->problem.mode;
  batch.spec_info.reset();
  batch.multi_item.reset();
  batch.tensors.sinks = nullptr;
  batch.seq_lens.clear();
  batch.extend_seq_lens.clear();
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    batch.seq_lens.push_back(narrow_i32(std::max<std::int64_t>(prefix_len(whole, r), 0)));
    batch.extend_seq_lens.push_back(narrow_i32(whole.q_len(r)));
  }
  batch.seq_lens_sum =
      std::accumulate(batch.seq_lens.begin(), batch.seq_lens.end(), std::int64_t{0});
  batch.extend_prefix_lens.assign(batch.seq_lens.size(), 0);
  batch.extend_start_loc = indptr_of(batch.extend_seq_lens);
  batch.extend_start_loc.pop_back();
  batch.extend_num_tokens = batch.q_tokens();
  return step;
}

}  // namespace

Support sees_whole_prefix(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  if (layer.is_recurrent()) return Support::no(kNoRecurrent);
  if (layer.is_cross_attention) {
    return Support::no("no cross attention: its keys are none of the step's");
  }
  if (layer.sliding_window_size >= 0) {
    return Support::no("no sliding window: the pass over the prefix has no query positions");
  }
  if (layer.attention_chunk > 0) {
    return Support::no("no chunks: the pass over the prefix has no query positions");
  }
  if (layer.dual_chunk.exists()) {
    return Support::no("no dual chunks: the pass over the prefix has no query positions");
  }
  if (layer.temperature_len > 0) {
    return Support::no("no temperature: the pass over the prefix has no query positions");
  }
  if (layer.has_alibi) {
    return Support::no("no ALiBi: the pass over the prefix has no query positions");
  }
  if (problem.multi_item) {
    return Support::no("no multi-item scoring: its mask hides keys amid those that are seen");
  }
  return Support::yes();
}

std::vector<KvLayout> layouts_in_pages(const Backend& kernels, const Problem& problem) {
  std::vector<KvLayout> layouts = kernels.formats(problem);
  std::erase(layouts, KvLayout::kRagged);
  return layouts;
}

Problem prefix_problem(const Problem& whole) {
  Problem prefix = whole;
  prefix.mode = ForwardMode::kExtend;
  prefix.layer.causal = false;
  prefix.layer.causal_block = 1;
  prefix.layer.has_sinks = false;
  return prefix;
}

Numerics numerics_of_merged(const Backend& kernels, const Problem& problem) {
  Numerics numerics = kernels.numerics(problem);
  if (const DType merged = merged_type(kernels, problem); merged != DType::kF32) {
    numerics.partial_out = merged;
  }
  return numerics;
}

PrefixMerge::PrefixMerge(Backend& kernels, const ForwardBatch& whole, std::unique_ptr<PartStep> own,
                         MergeStates merge, PlanMemory& memory)
    : prefix_(prefix_step(whole)),
      own_(std::move(own)),
      merged_{whole.tensors.out, whole.tensors.lse},
      merge_(merge) {
  const DeviceBatch* const on_device = whole.device_batch;
  ForwardBatch& prefix = prefix_->batch;
  own_->batch.device_batch = nullptr;
  if (on_device != nullptr) {
    own_indices_ = copy_made_indices(own_->batch, *on_device, "own", memory);
    own_->batch.device_batch = &own_indices_;
  }
  if (prefix.seq_lens_sum == 0) {
    own_->batch.tensors.out = merged_.out;
    own_->batch.tensors.lse = merged_.lse;
    own_plan_ = kernels.plan(own_->batch, memory);
    return;
  }

  if (on_device != nullptr) {
    prefix_indices_ = *on_device;
    const std::size_t bytes = prefix.seq_lens.size() * sizeof(std::int32_t);
    std::byte* const lens = memory.reserve_indices("prefix kv_lens", bytes);
    memory.device().copy_from_host(lens, prefix.seq_lens.data(), bytes);
    prefix_indices_.kv_lens = static_cast<const std::int32_t*>(static_cast<const void*>(lens));
    prefix.device_batch = &prefix_indices_;
  }
  const Problem& problem = *whole.problem;
  const DType dtype = merged_type(kernels, problem);
  const std::int64_t rows = whole.q_tokens(), heads = problem.layer.heads_q;
  const std::int64_t dv = problem.layer.head_dim_v;
  const std::int64_t out_bytes = round_up(rows * heads * dv * size_bytes(dtype), 256);
  const std::int64_t lse_bytes = round_up(rows * heads * size_bytes(DType::kF32), 256);
  std::byte* next = memory.reserve(to_size(2 * (out_bytes + lse_bytes)));
  std::size_t part = 0;
  const auto plan = [&](PartStep& step, AttentionState& state) {
    state.out = TensorView::dense(next, dtype, rows, heads, dv);
    state.lse = TensorView::dense(next + out_bytes, DType::kF32, rows, heads, 1);
    next += out_bytes + lse_bytes;
    step.batch.tensors.out = state.out;
    step.batch.tensors.lse = state.lse;
    return kernels.plan(step.batch, memory.part(part++));
  };
  prefix_plan_ = plan(*prefix_, of_prefix_);
  own_plan_ = plan(*own_, of_own_);
}

void PrefixMerge::run(Stream& stream) {
  if (prefix_plan_) prefix_plan_->run(stream);
  own_plan_->run(stream);
  if (prefix_plan_) merge_(of_prefix_, of_own_, merged_, stream);
}

}  // namespace attnbench
