// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/format_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace attnbench {
namespace {

Support no_such_format(const CacheFormat& cache, const std::vector<KvLayout>& read) {
  if (read.empty()) {
    if (are_of_blocks(cache.scales)) {
      return Support::no(fmt::format("reads no cache of {}", to_string(cache)));
    }
    std::string reason = fmt::format("reads no {} cache", to_string(cache.dtype));
    if (cache.scales != KvScales::kTensor) {
      reason += fmt::format(" with a scale per {}", to_string(cache.scales));
    }
    return Support::no(reason);
  }
  std::vector<std::string_view> names;
  for (const KvLayout layout : read) names.push_back(to_string(layout));
  return Support::no(
      fmt::format("reads no {} cache, but {}", to_string(cache.layout), fmt::join(names, ", ")));
}

/// Whether the backend is asked about activations of such types at all.
Support takes_activations(const BackendInfo& info, const Problem& problem) {
  if (!attends(problem.step)) return Support::yes();
  if (problem.fp8.q && !info.reads_fp8_queries) {
    return Support::no(fmt::format("reads no queries in {}", to_string(*problem.fp8.q)));
  }
  if (problem.layer.queries_apart && !info.reads_queries_apart) {
    return Support::no("reads no queries that come as two tensors");
  }
  if (problem.fp8.out && !info.writes_fp8_outputs) {
    return Support::no(fmt::format("writes no outputs in {}", to_string(*problem.fp8.out)));
  }
  return Support::yes();
}

/// The first that the backend names; one that names none reads the usual order.
KvLayout layout_of_states(const Backend& backend, const Problem& problem) {
  const std::vector<KvLayout> read = backend.formats(problem);
  const auto found = std::ranges::find_if(read, is_of_states);
  return found == read.end() ? KvLayout::kStatesKv : *found;
}

}  // namespace

FormatChoice choose_format(const Backend& backend, Problem problem, std::optional<KvLayout> asked) {
  if (problem.layer.is_recurrent()) {  // it has no cache
    const Support support = backend.supports(problem);
    return {support, support ? layout_of_states(backend, problem) : KvLayout::kStatesKv};
  }
  problem.cache.layout = asked.value_or(KvLayout::kNhd);
  if (Support taken = takes_activations(backend.info(), problem); !taken) {
    return {std::move(taken), problem.cache.layout};
  }
  const std::vector<KvLayout> read = backend.formats(problem);
  if (problem.cache.scales == KvScales::kGroup && backend.info().device == DeviceKind::kCuda) {
    return {Support::no(fmt::format("no cache of {} on a GPU: only processors have one",
                                    to_string(problem.cache))),
            problem.cache.layout};
  }
  // One row of MLA lies the same way in both.
  const auto same = [&](KvLayout a, KvLayout b) {
    const auto plain = [](KvLayout layout) {
      return layout == KvLayout::kNhd || layout == KvLayout::kHnd;
    };
    return a == b || (problem.layer.family == Family::kLatent && plain(a) && plain(b));
  };
  FormatChoice first{no_such_format(problem.cache, read), problem.cache.layout};
  bool refused = false;
  for (const KvLayout layout : read) {
    // Whether keys lie in a pool at all is the step's to say, and no backend's to choose.
    if (asked ? !same(layout, *asked) : layout == KvLayout::kRagged) continue;
    problem.cache.layout = asked.value_or(layout);
    if (!layout_refusal(problem.layer, problem.cache).empty()) continue;
    const Support support = backend.supports(problem);
    if (support) return {support, problem.cache.layout};
    if (!refused) first = {support, problem.cache.layout};
    refused = true;
  }
  return first;
}

}  // namespace attnbench
