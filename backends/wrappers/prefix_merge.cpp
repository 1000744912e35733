// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/prefix_merge.h"

#include <fmt/format.h>

#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/common/visibility.h"
#include "backends/wrappers/upload_step_indices.h"
#include "lib/backend/features.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

/// Of results that wait for the merge: kernels of a GPU write outputs in the activations' type, or
/// in fp8, as the engines' do.
DType merged_type(const Backend& kernels, const Problem& problem) {
  return kernels.info().device == DeviceKind::kCpu ? DType::kF32 : problem.dtype;
}

/// Names of the passes' index arrays, and of the number of tokens.
constexpr std::string_view kPrefix = "prefix", kOwn = "own", kTokens = "tokens";

/// Whether a pass reads any key.
bool has_keys(const ForwardBatch& pass) {
  for (std::int64_t r = 0; r < pass.batch_size; ++r) {
    if (!is_padding(pass, r) && keys_read(pass, r) > 0) return true;
  }
  return false;
}

}  // namespace

Support looks_at_distances_alone(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  const auto no = [](const char* what) {
    return Support::no(
        fmt::format("no {}: a pass over new keys counts places from the first of them", what));
  };
  if (layer.is_recurrent()) return unsupported_by_default(problem, {});
  if (layer.is_cross_attention) {
    return Support::no("no cross attention: its keys are none of the step's");
  }
  if (layer.attention_chunk > 0) return no("chunks");
  if (layer.dual_chunk.exists()) return no("dual chunks");
  if (layer.temperature_len > 0) return no("temperature");
  if (problem.spans) return no("bidirectional spans");
  if (layer.selection.exists()) return no("chosen keys");
  if (layer.compress_ratio > 0) return no("compressed rows");
  return Support::yes();
}

Support sees_whole_prefix(const Problem& problem) {
  if (const Support distances = looks_at_distances_alone(problem); !distances) return distances;
  if (problem.layer.sliding_window_size >= 0) {
    return Support::no("no sliding window: its passes do not know the places of queries");
  }
  if (problem.layer.has_alibi) {
    return Support::no("no ALiBi: its passes do not know the places of queries");
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
  prefix.prefix_alone = true;
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
  step.has_own_requests = true;
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
  step->batch.problem = &step->problem;
  step->batch.tensors.sinks = nullptr;
  return step;
}

PrefixMerge::PrefixMerge(Backend& kernels, const ForwardBatch& whole, MakePart prefix, MakePart own,
                         MergeStates merge, PlanMemory& memory)
    : make_prefix_(prefix),
      make_own_(own),
      prefix_(prefix(whole)),
      own_(own(whole)),
      merge_(merge),
      memory_(memory) {
  const Problem& problem = *whole.problem;
  states_.to = {whole.tensors.out, whole.tensors.lse, whole.tensors.out_scale};
  const auto set_indices = [&](PartStep& step, std::string_view name) {
    if (whole.device_batch == nullptr || !step.has_own_requests) return;
    step.indices = upload_step_indices(step.batch, whole, name, memory);
    step.batch.device_batch = &step.indices;
  };
  set_indices(*own_, kOwn);
  if (!problem.recorded && !has_keys(prefix_->batch)) {
    own_->batch.tensors.out = states_.to.out;
    own_->batch.tensors.lse = states_.to.lse;
    own_plan_ = kernels.plan(own_->batch, memory);
    return;
  }

  set_indices(*prefix_, kPrefix);
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
  prefix_plan_ = plan(*prefix_, states_.a);
  own_plan_ = plan(*own_, states_.b);
  if (problem.recorded) {
    const std::int32_t tokens = narrow_i32(real_tokens(whole));
    std::byte* const to = memory.reserve_indices(kTokens, sizeof tokens);
    memory.device().copy_from_host(to, &tokens, sizeof tokens);
    states_.tokens = static_cast<const std::int32_t*>(static_cast<const void*>(to));
  }
}

void PrefixMerge::run(Stream& stream) {
  if (prefix_plan_) prefix_plan_->run(stream);
  own_plan_->run(stream);
  if (prefix_plan_) merge_(states_, stream);
}

std::string PrefixMerge::kernel() const {
  const std::string prefix = prefix_plan_ ? prefix_plan_->kernel() : std::string();
  const std::string own = own_plan_->kernel();
  if (prefix.empty() || prefix == own) return own;
  return own.empty() ? prefix : prefix + " + " + own;
}

bool PrefixMerge::update(const ForwardBatch& whole, Stream& stream) {
  if (states_.tokens == nullptr) return false;
  const auto goes_on = [&](MakePart make, Plan& plan, std::string_view name) {
    const std::unique_ptr<PartStep> step = make(whole);
    if (step->has_own_requests) {
      step->indices = upload_step_indices(step->batch, whole, name, memory_, stream);
      step->batch.device_batch = &step->indices;
    }
    return plan.update(step->batch, stream);
  };
  const std::int32_t tokens = narrow_i32(real_tokens(whole));
  memory_.device().enqueue_copy_from_host(stream, memory_.reserve_indices(kTokens, sizeof tokens),
                                          &tokens, sizeof tokens);
  return goes_on(make_prefix_, *prefix_plan_, kPrefix) && goes_on(make_own_, *own_plan_, kOwn);
}

}  // namespace attnbench
