// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backends/wrappers/as_page_size_1.h"
#include "backends/wrappers/prefix_merge.h"
#include "lib/backend/wrapped_backend.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

/// Requests of a pass.
struct PassRequests {
  std::vector<std::int32_t> rows, q_lens, kv_lens;

  void add(std::int64_t row, std::int64_t q_len, std::int64_t kv_len) {
    if (q_len == 0) return;
    rows.push_back(narrow_i32(row));
    q_lens.push_back(narrow_i32(q_len));
    kv_lens.push_back(narrow_i32(kv_len));
  }
};

/// What the first pass computes: each query sees all keys of its request.
Problem problem_of_prefixes(const Problem& whole) {
  Problem prefix = whole;
  prefix.multi_item = false;
  prefix.layer.causal = false;
  prefix.layer.has_sinks = false;
  return prefix;
}

/// What the second pass computes: a delimiter is a query before its request's first key.
Problem problem_of_items(const Problem& whole) {
  Problem own = whole;
  own.multi_item = false;
  own.empty_rows = true;
  own.cache = as_page_size_1(whole.cache);
  return own;
}

Problem problem_without_items(const Problem& whole) {
  Problem plain = whole;
  plain.multi_item = false;
  return plain;
}

/// New tokens of a request before its first delimiter, and behind it.
struct NewTokens {
  std::int64_t prompt = 0, of_items = 0;
};

NewTokens new_tokens(const ForwardBatch& batch, std::int64_t r) {
  const std::int64_t prefix = batch.multi_item->prefix_len_ptr[to_size(r)];
  const std::int64_t of_items = batch.kv_len(r) - prefix;
  return {batch.q_len(r) - of_items, of_items};
}

/// Prompts over what is cached; their items over that and the prompt.
std::unique_ptr<PartStep> prefix_of_items(const ForwardBatch& whole) {
  auto step = std::make_unique<PartStep>();
  step->problem = problem_of_prefixes(*whole.problem);
  step->batch = whole;
  step->batch.multi_item.reset();
  step->batch.tensors.sinks = nullptr;
  PassRequests requests;
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    const std::int64_t row = whole.req_pool_indices[to_size(r)];
    const NewTokens tokens = new_tokens(whole, r);
    requests.add(row, tokens.prompt, whole.kv_len(r) - whole.q_len(r));
    requests.add(row, tokens.of_items, whole.kv_len(r) - tokens.of_items);
  }
  set_requests(*step, std::move(requests.rows), std::move(requests.q_lens),
               std::move(requests.kv_lens));
  return step;
}

/// Each prompt's new tokens, and each item with the delimiter before it, as requests of their own.
PassRequests requests_of_items(const ForwardBatch& whole) {
  PassRequests requests;
  const MultiItemParams& items = *whole.multi_item;
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    const NewTokens tokens = new_tokens(whole, r);
    requests.add(0, tokens.prompt, tokens.prompt);
    const auto places =
        std::span(items.token_pos_in_items_ptr)
            .subspan(to_size(r * items.token_pos_in_items_len), to_size(tokens.of_items));
    for (auto delimiter = places.begin(); delimiter != places.end();) {
      const auto next = std::find(delimiter + 1, places.end(), std::uint16_t{0});
      const std::int64_t with_delimiter = next - delimiter;
      requests.add(0, with_delimiter, with_delimiter - 1);
      delimiter = next;
    }
  }
  for (std::size_t i = 0; i < requests.rows.size(); ++i) {
    requests.rows[i] = narrow_i32(static_cast<std::int64_t>(i) + 1);
  }
  return requests;
}

std::unique_ptr<PartStep> own_keys_of_items(const ForwardBatch& whole) {
  auto step = std::make_unique<PartStep>();
  step->problem = problem_of_items(*whole.problem);
  step->pool = as_page_size_1(*whole.token_to_kv_pool);
  step->batch = whole;
  step->batch.multi_item.reset();
  PassRequests requests = requests_of_items(whole);
  const std::int64_t longest = requests.kv_lens.empty() ? 0 : std::ranges::max(requests.kv_lens);
  step->table = ReqToTokenPool(std::ssize(requests.rows), longest);
  std::int64_t token = 0;  // of the next request; its keys are its last tokens
  for (std::size_t i = 0; i < requests.rows.size(); ++i) {
    token += requests.q_lens[i];
    std::transform(whole.out_cache_loc.begin() + token - requests.kv_lens[i],
                   whole.out_cache_loc.begin() + token, step->table.row(requests.rows[i]).begin(),
                   [](std::int64_t slot) { return narrow_i32(slot); });
  }
  step->batch.token_to_kv_pool = &step->pool;
  step->batch.req_to_token_pool = &step->table;
  set_requests(*step, std::move(requests.rows), std::move(requests.q_lens),
               std::move(requests.kv_lens));
  return step;
}

class ItemPassesBackend final : public WrappedBackend {
 public:
  ItemPassesBackend(std::unique_ptr<Backend> kernels, ItemKeys keys, MergeStates merge)
      : WrappedBackend(std::move(kernels)), keys_(keys), merge_(merge) {}

  [[nodiscard]] Support supports(const Problem& problem) const override {
    const Support plain = WrappedBackend::supports(problem);
    if (!problem.multi_item || !plain) return plain;
    if (keys_ == ItemKeys::kInPages && !has_linear_slots(problem.cache)) {
      return Support::no(no_linear_slots_reason(problem.cache));
    }
    if (const Support prefix = sees_whole_prefix(problem); !prefix) return prefix;
    if (!problem.layer.causal) return Support::no("causal layers only score items");
    if (problem.empty_rows) return Support::no("no queries before the first key beside items");
    if (problem.fp8.q_scales == QScales::kRequest || problem.cache.scales == KvScales::kRequest) {
      return Support::no("no scales per request: its passes have a request for each item");
    }
    if (const Support prefix = kernels().supports(problem_of_prefixes(problem)); !prefix) {
      return prefix;
    }
    return kernels().supports(problem_of_items(problem));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return problem.multi_item ? numerics_of_merged(kernels(), kernels_problem(problem))
                              : WrappedBackend::numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (batch.batch_size == 0 || !batch.problem->multi_item) return kernels().plan(batch, memory);
    return std::make_unique<PrefixMerge>(kernels(), batch, prefix_of_items, own_keys_of_items,
                                         merge_, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return problem_without_items(problem);
  }

  ItemKeys keys_;
  MergeStates merge_;
};

}  // namespace

std::unique_ptr<Backend> with_item_passes(std::unique_ptr<Backend> kernels, ItemKeys keys,
                                          MergeStates merge) {
  return std::make_unique<ItemPassesBackend>(std::move(kernels), keys, merge);
}

}  // namespace attnbench
