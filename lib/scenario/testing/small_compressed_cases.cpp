// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "lib/scenario/testing/case_builder.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

/// `topk` 0: all rows are seen.
Case with_rows(Case c, std::int64_t ratio, std::int64_t window, const Selection& selection = {}) {
  c.id += fmt::format("_rows_of_{}_window_{}_topk_{}", ratio, window, selection.topk);
  c.layer.family = Family::kLatent;
  c.layer.heads_kv = 1;
  c.layer.compress_ratio = ratio;
  c.layer.sliding_window_size = window;
  if (!selection.exists()) return c;
  c = with_selection(std::move(c), selection);
  c.layer.selection.unit = ratio;
  c.layer.selection.compressed = true;
  return c;
}

}  // namespace

std::vector<Case> small_compressed() {
  using enum SelectionPattern;
  using enum SelectionPadding;
  // DeepSeek-V4's rows in small: all dims are K and V.
  Case prompts = small_case("compressed", ForwardMode::kMixed, plain_layer(4, 1, 64));
  prompts.kv_cache.page_size = 4;
  add_requests(prompts, "chunk", {{5, 5}, {9, 40}, {3, 3}, {7, 9}, {33, 61}});
  add_requests(prompts, "chat", {{1, 1}, {1, 4}, {1, 30}, {1, 77}});
  prompts.layer.has_sinks = true;
  Case decode = small_mla();
  Case chain = small_tree_verify();
  for (Request& request : chain.requests) {
    std::iota(request.tree_parents.begin(), request.tree_parents.end(), -1);
    request.shared_prefix = -1;
    request.shared_len = 0;
  }
  chain.prefixes.clear();
  Case fp8 = prompts;
  fp8.id += "_fp8";
  fp8.kv_cache.dtype = DType::kE4M3;
  fp8.kv_cache.k_scale = fp8.kv_cache.v_scale = 0.37f;
  Case no_keys = small_case("few_keys", ForwardMode::kExtend, plain_layer(4, 1, 64));
  add_requests(no_keys, "short", {{5, 3}, {2, 0}, {4, 4}, {3, 40}});
  Case padded = small_plain_decode();
  padded.padding = {.requests = 2, .seq_len = 1, .tokens = 3};
  Case own_pool = with_rows(prompts, 4, 6);
  own_pool.id += "_swa_pool";
  own_pool.kv_cache.swa_pool = true;
  return {with_rows(prompts, 4, 6),
          with_rows(prompts, 16, 3),
          with_rows(prompts, 5, -1),
          with_rows(prompts, 1, 2),
          with_rows(prompts, 4, 6, {.topk = 3}),
          with_rows(prompts, 4, 6, {.topk = 5, .pattern = kRecent, .padding = kFront}),
          with_rows(prompts, 3, 9, {.topk = 4, .pattern = kShared, .padding = kRepeat}),
          with_rows(prompts, 2, 4, {.topk = 9, .pattern = kHoles}),
          with_rows(prompts, 2, 4, {.topk = 6, .pattern = kDuplicates}),
          with_rows(prompts, 4, 5, {.topk = 1000}),
          with_rows(decode, 4, 7),
          with_rows(decode, 8, 7, {.topk = 2}),
          with_rows(fp8, 4, 6),
          with_rows(fp8, 4, 6, {.topk = 3, .pattern = kEveryPage}),
          with_rows(chain, 4, 8),
          with_rows(chain, 3, 8, {.topk = 2, .padding = kRepeat}),
          with_rows(no_keys, 4, 5),
          with_rows(no_keys, 2, 5, {.topk = 3, .pattern = kOnePage}),
          with_rows(padded, 4, 5),
          own_pool};
}

}  // namespace attnbench
