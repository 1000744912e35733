// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/wrappers/as_page_size_1.h"
#include "backends/wrappers/prefix_merge.h"
#include "lib/backend/wrapped_backend.h"
#include "lib/base/int_math.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

/// Every node sees all of the committed prefix, so that kernels need not look at the trees' masks.
Problem whole_prefix(const Problem& trees) {
  Problem prefix = prefix_problem(trees);
  prefix.layer.causal = false;
  return prefix;
}

std::unique_ptr<PartStep> whole_prefix_step(const ForwardBatch& trees) {
  std::unique_ptr<PartStep> step = prefix_step(trees);
  step->problem = whole_prefix(*trees.problem);
  return step;
}

/// Nodes lie anywhere among the pages, so a table of them has tokens, not pages.
Problem draft_problem(const Problem& trees) {
  Problem drafts = trees;
  drafts.mode = ForwardMode::kDecode;
  drafts.cache = as_page_size_1(trees.cache);
  drafts.limits = {trees.limits.q_tokens, 1, trees.limits.q_tokens, trees.limits.q_len};
  return drafts;
}

/// Each node a request, whose keys are the nodes that it sees. Those of padding fill up as well.
std::unique_ptr<PartStep> draft_step(const ForwardBatch& trees) {
  auto step = std::make_unique<PartStep>();
  step->problem = draft_problem(*trees.problem);
  step->pool = as_page_size_1(*trees.token_to_kv_pool);
  step->has_own_requests = true;
  const auto nodes = to_size(trees.spec_info->draft_token_num);
  DraftTable drafts = two_stage_draft_table(*trees.spec_info, trees.out_cache_loc);
  const std::int64_t tokens = tokens_of_requests(trees);
  step->table = ReqToTokenPool(tokens, trees.spec_info->draft_token_num);
  step->batch = trees;
  ForwardBatch& batch = step->batch;
  batch.problem = &step->problem;
  batch.token_to_kv_pool = &step->pool;
  batch.req_to_token_pool = &step->table;
  batch.forward_mode = step->problem.mode;
  batch.spec_info.reset();
  batch.batch_size = tokens;
  batch.req_pool_indices.resize(to_size(batch.batch_size));
  std::iota(batch.req_pool_indices.begin(), batch.req_pool_indices.end(), 1);
  for (std::size_t row = 0; row < batch.req_pool_indices.size(); ++row) {
    std::copy_n(drafts.page_table.data() + row * nodes, nodes,
                step->table.row(batch.req_pool_indices[row]).begin());
    if (is_padding(trees, static_cast<std::int64_t>(row / nodes))) {
      batch.req_pool_indices[row] = kPaddingRow;
    }
  }
  batch.seq_lens = std::move(drafts.cache_seqlens);
  batch.seq_lens_sum =
      std::accumulate(batch.seq_lens.begin(), batch.seq_lens.end(), std::int64_t{0});
  batch.positions = decode_positions(batch.seq_lens);
  batch.positions.resize(trees.positions.size(), 0);  // of rows of no request
  return step;
}

class TwoStageBackend final : public WrappedBackend {
 public:
  TwoStageBackend(std::unique_ptr<Backend> kernels, MergeStates merge)
      : WrappedBackend(std::move(kernels)), merge_(merge) {
    BackendInfo& info = own_info();
    info.description = fmt::format(
        "{} over the prefixes of draft trees, then over each node's own, merged by LSE", info.name);
    info.name += ":two_stage";
    info.by_default = false;
  }

  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (problem.layer.is_recurrent()) return sees_whole_prefix(problem);
    if (problem.mode != ForwardMode::kTargetVerify && problem.mode != ForwardMode::kIdle) {
      return Support::no("draft trees only: in other steps there is one stage");
    }
    if (const Support prefix = sees_whole_prefix(problem); !prefix) return prefix;
    if (problem.fp8.q_scales == QScales::kRequest || problem.cache.scales == KvScales::kRequest) {
      return Support::no("no scales per request: its second pass has a request for each node");
    }
    if (!problem.layer.causal)
      return Support::no("causal layers only: others have no mask of a tree");
    if (info().device != DeviceKind::kCpu && !has_linear_slots(problem.cache)) {
      return Support::no(no_linear_slots_reason(problem.cache));
    }
    if (const Support prefix = kernels().supports(whole_prefix(problem)); !prefix) return prefix;
    return kernels().supports(draft_problem(problem));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_in_pages(kernels(), problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return numerics_of_merged(kernels(), problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (batch.batch_size == 0) return kernels().plan(batch, memory);
    return std::make_unique<PrefixMerge>(kernels(), batch, whole_prefix_step, draft_step, merge_,
                                         memory);
  }

 private:
  MergeStates merge_;
};

}  // namespace

std::unique_ptr<Backend> with_two_stages(std::unique_ptr<Backend> kernels, MergeStates merge) {
  return std::make_unique<TwoStageBackend>(std::move(kernels), merge);
}

}  // namespace attnbench
