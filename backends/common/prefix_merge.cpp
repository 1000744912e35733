// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/prefix_merge.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/common/made_indices.h"
#include "backends/common/no_recurrent.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

/// Of results that wait for the merge: kernels of a GPU write outputs in the activations' type, or
/// in fp8, as the engines' do.
DType merged_type(const Backend& kernels, const Problem& problem) {
  return kernels.info().device == DeviceKind::kCpu ? DType::kF32 : problem.dtype;
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

void set_requests(PartStep& step, std::vector<std::int32_t> rows, std::vector<std::int32_t> q_lens,
                  std::vector<std::int32_t> kv_lens) {
  ForwardBatch& batch = step.batch;
  batch.problem = &step.problem;
  batch.forward_mode = step.problem.mode;
  batch.batch_size = std::ssize(rows);
  batch.req_pool_indices = std::move(rows);
  batch.seq_lens_sum = std::accumulate(kv_lens.begin(), kv_lens.end(), std::int64_t{0});
  batch.seq_lens = std::move(kv_lens);
  batch.extend_prefix_lens.assign(q_lens.size(), 0);
  batch.extend_start_loc = indptr_of(q_lens);
  batch.extend_num_tokens = batch.extend_start_loc.back();
  batch.extend_start_loc.pop_back();
  batch.extend_seq_lens = std::move(q_lens);
}

std::unique_ptr<PartStep> prefix_step(const ForwardBatch& whole) {
  auto step = std::make_unique<PartStep>();
  step->problem = prefix_problem(*whole.problem);
  step->batch = whole;
  step->batch.spec_info.reset();
  step->batch.multi_item.reset();
  step->batch.tensors.sinks = nullptr;
  std::vector<std::int32_t> q_lens, kv_lens;
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    const std::int64_t prefix = whole.kv_len(r) - whole.q_len(r);
    q_lens.push_back(narrow_i32(whole.q_len(r)));
    kv_lens.push_back(narrow_i32(std::max<std::int64_t>(prefix, 0)));
  }
  set_requests(*step, whole.req_pool_indices, std::move(q_lens), std::move(kv_lens));
  return step;
}

PrefixMerge::PrefixMerge(Backend& kernels, const ForwardBatch& whole,
                         std::unique_ptr<PartStep> prefix, std::unique_ptr<PartStep> own,
                         MergeStates merge, PlanMemory& memory)
    : prefix_(std::move(prefix)),
      own_(std::move(own)),
      merged_{whole.tensors.out, whole.tensors.lse, whole.tensors.out_scale},
      merge_(merge) {
  const auto set_indices = [&](PartStep& step, std::string_view name) {
    if (whole.device_batch == nullptr) return;
    step.indices = copy_made_indices(step.batch, whole, name, memory);
    step.batch.device_batch = &step.indices;
  };
  set_indices(*own_, "own");
  if (prefix_->batch.seq_lens_sum == 0) {
    own_->batch.tensors.out = merged_.out;
    own_->batch.tensors.lse = merged_.lse;
    own_plan_ = kernels.plan(own_->batch, memory);
    return;
  }

  set_indices(*prefix_, "prefix");
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
    step.problem.fp8.out.reset();  // the merge divides, and rounds
    step.batch.tensors.out_scale = 1;
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
