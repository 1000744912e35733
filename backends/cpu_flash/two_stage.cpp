// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/two_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "backends/common/no_recurrent.h"
#include "backends/cpu_flash/cpu_flash.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/positions.h"

namespace attnbench::cpu_flash {
namespace {

/// A pass: a batch with its problem, and where its results go.
struct Pass {
  Problem problem;
  ForwardBatch batch;
  std::unique_ptr<Plan> plan;
};

class TwoStages final : public Plan {
 public:
  TwoStages(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  void make_prefix_pass();
  void make_draft_pass();
  /// O and LSE of a row from those of both passes.
  void merge(std::int64_t token, int head) const;

  const ForwardBatch* batch_;
  ReqToTokenPool draft_slots_;  ///< a row for each node: the slots of those that it sees first
  Pass prefix_, draft_;
};

TwoStages::TwoStages(const ForwardBatch& batch, PlanMemory& memory)
    : batch_(&batch), draft_slots_(batch.q_tokens(), batch.spec_info->draft_token_num) {
  make_prefix_pass();
  make_draft_pass();
  const std::int64_t rows = batch.q_tokens(), heads = batch.problem->layer.heads_q;
  const std::int64_t dv = batch.problem->layer.head_dim_v;
  auto* next = memory.reserve(to_size(2 * rows * heads * (dv + 1)) * sizeof(float));
  const auto take = [&](std::int64_t dim) {
    const TensorView view = TensorView::dense(next, DType::kF32, rows, heads, dim);
    next += view.size() * size_bytes(DType::kF32);
    return view;
  };
  std::size_t part = 0;
  for (Pass* pass : {&prefix_, &draft_}) {
    pass->batch.problem = &pass->problem;
    pass->batch.device_batch = nullptr;
    pass->batch.tensors.out_scale = 1;
    pass->batch.tensors.out = take(dv);
    pass->batch.tensors.lse = take(1);
    pass->plan = CpuFlashBackend().plan(pass->batch, memory.part(part++));
  }
}

void TwoStages::make_prefix_pass() {
  prefix_.problem = *batch_->problem;
  prefix_.problem.mode = ForwardMode::kExtend;
  prefix_.problem.layer.causal = false;
  prefix_.batch = *batch_;
  ForwardBatch& pass = prefix_.batch;
  pass.forward_mode = ForwardMode::kExtend;
  pass.spec_info.reset();
  const auto requests = to_size(pass.batch_size);
  pass.extend_seq_lens.assign(requests, narrow_i32(batch_->spec_info->draft_token_num));
  pass.extend_prefix_lens.assign(requests, 0);
  pass.extend_start_loc = indptr_of(pass.extend_seq_lens);
  pass.extend_start_loc.pop_back();
  pass.extend_num_tokens = pass.q_tokens();
}

void TwoStages::make_draft_pass() {
  draft_.problem = *batch_->problem;
  draft_.problem.mode = ForwardMode::kDecode;
  draft_.problem.layer.has_sinks = false;
  draft_.batch = *batch_;
  ForwardBatch& pass = draft_.batch;
  const auto nodes = to_size(batch_->spec_info->draft_token_num);
  DraftTable table = two_stage_draft_table(*batch_->spec_info, batch_->out_cache_loc);
  pass.forward_mode = ForwardMode::kDecode;
  pass.spec_info.reset();
  pass.batch_size = batch_->q_tokens();
  pass.req_pool_indices.resize(to_size(pass.batch_size));
  std::iota(pass.req_pool_indices.begin(), pass.req_pool_indices.end(), 1);
  for (std::size_t row = 0; row < pass.req_pool_indices.size(); ++row) {
    std::copy_n(table.page_table.data() + row * nodes, nodes,
                draft_slots_.row(pass.req_pool_indices[row]).begin());
  }
  pass.req_to_token_pool = &draft_slots_;
  pass.seq_lens = std::move(table.cache_seqlens);
  pass.seq_lens_sum = std::accumulate(pass.seq_lens.begin(), pass.seq_lens.end(), std::int64_t{0});
  pass.positions = decode_positions(pass.seq_lens);
}

void TwoStages::merge(std::int64_t token, int head) const {
  const AttentionTensors &a = prefix_.batch.tensors, &b = draft_.batch.tensors;
  const float lse_a = load(DType::kF32, a.lse.row(token, head));
  const float lse_b = load(DType::kF32, b.lse.row(token, head));
  const float top = std::max(lse_a, lse_b);
  const bool empty = top == -std::numeric_limits<float>::infinity();
  const float weight_a = empty ? 0 : std::exp(lse_a - top);
  const float weight_b = empty ? 0 : std::exp(lse_b - top);
  const float sum = weight_a + weight_b, factor = empty ? 0 : 1 / (sum * batch_->tensors.out_scale);
  const TensorView &lse = batch_->tensors.lse, &out = batch_->tensors.out;
  store(DType::kF32, lse.row(token, head), empty ? top : top + std::log(sum));
  for (std::int64_t d = 0; d < out.shape[2]; ++d) {
    const std::int64_t at = d * size_bytes(DType::kF32);
    const float value = weight_a * load(DType::kF32, a.out.row(token, head) + at) +
                        weight_b * load(DType::kF32, b.out.row(token, head) + at);
    store(out.dtype, out.row(token, head) + d * size_bytes(out.dtype), value * factor);
  }
}

void TwoStages::run(Stream& stream) {
  prefix_.plan->run(stream);
  draft_.plan->run(stream);
  const std::int64_t rows = batch_->q_tokens() * batch_->problem->layer.heads_q;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    merge(row / batch_->problem->layer.heads_q,
          static_cast<int>(row % batch_->problem->layer.heads_q));
  }
}

}  // namespace

TwoStageBackend::TwoStageBackend() : info_(CpuFlashBackend().info()) {
  info_.name = "cpu_flash:two_stage";
  info_.description = "draft trees: prefix and tree in two passes, merged by LSE";
  info_.by_default = false;
}

Support TwoStageBackend::supports(const Problem& problem) const {
  const AttentionLayer& layer = problem.layer;
  if (layer.is_recurrent()) return Support::no(kNoRecurrent);
  if (problem.mode != ForwardMode::kTargetVerify && problem.mode != ForwardMode::kIdle) {
    return Support::no("draft trees only: the rest is cpu_flash's");
  }
  if (layer.sliding_window_size >= 0)
    return Support::no("no window: its second pass has no places");
  if (layer.attention_chunk > 0) return Support::no("no chunks: its second pass has no places");
  if (layer.dual_chunk.exists()) {
    return Support::no("no dual chunks: its second pass has no places");
  }
  if (layer.temperature_len > 0) {
    return Support::no("no temperature: its second pass has no places");
  }
  if (problem.fp8.q_scales == QScales::kRequest) {
    return Support::no("no scales per request: its second pass has a request for each node");
  }
  if (layer.has_alibi) return Support::no("no ALiBi: its second pass has no places");
  return Support::yes();
}

std::unique_ptr<Plan> TwoStageBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return CpuFlashBackend().plan(batch, memory);
  return std::make_unique<TwoStages>(batch, memory);
}

}  // namespace attnbench::cpu_flash
