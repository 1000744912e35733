// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/composed_step.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// The requests that are, or are not, computed in the absorbed form.
std::vector<Request> requests_of(const Case& whole, bool absorbed) {
  std::vector<Request> requests;
  for (std::size_t r = 0; r < whole.requests.size(); ++r) {
    if (is_absorbed(whole.requests[r]) != absorbed) continue;
    requests.push_back(whole.requests[r]);
    // Contents stay those of the request's place in the whole step.
    if (requests.back().stream < 0) requests.back().stream = static_cast<std::int64_t>(r);
  }
  return requests;
}

}  // namespace

std::vector<Case> composed_parts(const Case& whole, const AttentionLayer& expanded) {
  Case prompts = whole;
  prompts.id += ":expanded";
  prompts.mode = ForwardMode::kExtend;
  prompts.layer = expanded;
  prompts.kv_cache = {};
  prompts.kv_cache.layout = KvLayout::kRagged;
  prompts.kv_cache.dtype = whole.dtype;
  prompts.kv_cache.placement = Placement::kContiguous;
  // Engines round the queries of a latent cache in fp8 alone.
  prompts.fp8.q.reset();
  prompts.fp8.q_scales = QScales::kTensor;
  prompts.q_scale = 1;
  prompts.prefixes.clear();
  prompts.requests = requests_of(whole, false);
  for (Request& request : prompts.requests) {
    request.shared_prefix = -1;
    request.shared_len = 0;
  }
  Case decodes = whole;
  decodes.id += ":absorbed";
  decodes.mode = ForwardMode::kDecode;
  decodes.requests = requests_of(whole, true);
  return {std::move(prompts), std::move(decodes)};
}

void refuse_composed(const Case& c, const char* command) {
  if (c.parts.empty()) return;
  throw ConfigError(
      fmt::format("case {} is composed of prompts and decodes, and {} takes one step: give mixes "
                  "of its prompts "
                  "with mla: expanded and of its decodes with mla: absorbed",
                  c.id, command));
}

}  // namespace attnbench
