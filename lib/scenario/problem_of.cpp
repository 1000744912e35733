// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/problem_of.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {

std::int64_t graph_bucket_of(const Case& c, const MeasureConfig& measure) {
  if (!problem_of(c).can_be_recorded()) return 0;
  const std::int64_t requests = std::ssize(c.requests) + c.padding.requests;
  const auto bucket = std::ranges::lower_bound(measure.graph_buckets, requests);
  return bucket == measure.graph_buckets.end() ? 0 : *bucket;
}

bool exceeds_graph_buckets(const Case& c, const MeasureConfig& measure) {
  return !measure.graph_buckets.empty() && problem_of(c).can_be_recorded() &&
         graph_bucket_of(c, measure) == 0;
}

CacheFormat cache_format_of(const Case& c) {
  return {c.kv_cache.dtype, c.kv_cache.layout.value_or(KvLayout::kNhd), c.kv_cache.page_size,
          c.kv_cache.scales, c.kv_cache.page_stride};
}

Problem problem_of(const Case& c) {
  Problem problem;
  problem.layer = c.layer;
  problem.dtype = c.dtype;
  problem.fp8 = c.fp8;
  problem.cache = cache_format_of(c);
  problem.mode = c.mode;
  problem.step = c.step;
  problem.swa_pool = c.kv_cache.swa_pool;
  problem.drafts_are_chains = c.mode == ForwardMode::kTargetVerify;
  problem.limits.requests = std::ssize(c.requests) + c.padding.requests;
  problem.limits.q_tokens = c.q_tokens() + c.padding_q_tokens();
  if (c.padding.requests > 0) problem.limits.kv_len = c.padding.seq_len;
  for (const Request& request : c.requests) {
    problem.limits.q_len = std::max(problem.limits.q_len, request.q_len);
    problem.multi_item = problem.multi_item || !request.items.empty();
    problem.spans = problem.spans || !request.spans.empty();
    problem.limits.kv_len = std::max(problem.limits.kv_len, request.kv_len);
    const std::int64_t needed = c.layer.is_cross_attention ? 1 : request.q_len;
    problem.empty_rows = problem.empty_rows || request.kv_len < needed;
    problem.drafts_are_chains =
        problem.drafts_are_chains && (c.layer.is_cross_attention || is_chain(request.tree_parents));
  }
  return problem;
}

Problem recorded_problem_of(const Case& c, std::int64_t max_kv_len) {
  Problem problem = problem_of(c);
  expects(problem.can_be_recorded(), "a step that engines do not pad");
  StepLimits& limits = problem.limits;
  limits.requests = std::max(limits.requests, c.graph_bucket);
  limits.q_tokens = limits.requests * limits.q_len;
  limits.kv_len = max_kv_len;
  problem.recorded = true;
  return problem;
}

}  // namespace attnbench
