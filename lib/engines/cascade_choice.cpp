// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/cascade_choice.h"

#include <algorithm>
#include <vector>

#include "lib/base/narrow.h"
#include "lib/index/cascade_rule.h"
#include "lib/scenario/prefix_tree.h"

namespace attnbench {
namespace {

/// Whether some two requests share a prefix.
bool shares_a_prefix(const Case& c) {
  std::vector<int> users(c.prefixes.size());  // of prefixes that extend none, and all of theirs
  return std::ranges::any_of(c.requests, [&](const Request& request) {
    if (request.shared_prefix < 0) return false;
    const int root = prefix_of_token(c.prefixes, request.shared_prefix, 0);
    return ++users[static_cast<std::size_t>(root)] == 2;
  });
}

}  // namespace

std::int64_t common_prefix_len(const Case& c) {
  if (c.requests.empty() || c.layer.is_cross_attention) return 0;
  const int prefix = c.requests.front().shared_prefix;
  std::int64_t length = c.requests.front().shared_len;
  for (const Request& request : c.requests) {
    length = std::min({length, request.shared_len, request.prefix_len(),
                       common_length(c.prefixes, prefix, request.shared_prefix)});
  }
  return whole_pages(std::max<std::int64_t>(length, 0), c.kv_cache.manager_page());
}

CascadeChoice choose_cascade(const Case& c, int multiprocessors) {
  if (!shares_a_prefix(c)) return {"-", "no shared prefix"};
  // Its builders for MLA keep the base class's answer, False (v1/attention/backend.py).
  if (c.layer.is_recurrent()) return {"no", "a recurrent layer has no keys to share"};
  if (c.layer.shares_row_of_k_and_v()) return {"no", "vLLM has no cascade for MLA"};
  // Its CrossAttentionManager gives each request blocks of its own (v1/core/
  // single_type_kv_cache_manager.py, get_num_common_prefix_blocks).
  if (c.layer.is_cross_attention) return {"no", "vLLM shares no blocks of an encoder's keys"};
  // SchedulerConfig turns prefix caching off for all layers of such a model (config/scheduler.py).
  if (c.geometry.kinds[LayerKind::kCross] > 0)
    return {"no", "vLLM caches no prefix beside an encoder"};
  const std::int64_t common = common_prefix_len(c);
  if (common == 0) return {"no", "no whole page is common to all requests"};
  std::vector<std::int32_t> query_lens;
  for (const Request& request : c.requests) query_lens.push_back(narrow_i32(request.q_len));
  const CascadeDecision decision =
      use_cascade_attention({.common_prefix_len = common,
                             .query_lens = query_lens,
                             .heads_q = c.layer.heads_q,
                             .heads_kv = c.layer.heads_kv,
                             .multiprocessors = multiprocessors,
                             .use_alibi = c.layer.has_alibi,
                             .use_sliding_window = c.layer.sliding_window_size >= 0,
                             .use_local_attention = c.layer.attention_chunk > 0});
  return {decision.use ? "yes" : "no", decision.reason};
}

}  // namespace attnbench
