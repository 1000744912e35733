// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "backends/wrappers/prefix_merge.h"
#include "lib/backend/wrapped_backend.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"

namespace attnbench {
namespace {

/// Tokens of a page of k_new: page p has the tokens [p, p + 64), as its stride is a token, so that
/// a request's pages may begin at any token. Of so many tokens, paged_fa's copy engine takes 32 at
/// once.
constexpr std::int64_t kOwnPage = 64;

Problem own_problem(const Problem& whole) {
  Problem own = whole;
  own.cache = {whole.dtype, KvLayout::kNhd, kOwnPage, KvScales::kTensor};
  own.limits.kv_len = whole.limits.q_len;
  return own;
}

/// k_new and v_new as a cache of overlapping pages. They are read alone.
KvPool own_pool(const ForwardBatch& whole) {
  const AttentionLayer& layer = whole.problem->layer;
  const ConstTensorView &k = whole.tensors.k_new, &v = whole.tensors.v_new;
  KvPool pool;
  pool.k = const_cast<std::byte*>(k.data);
  pool.v = const_cast<std::byte*>(v.data);
  pool.dtype = k.dtype;
  pool.page_size = kOwnPage;
  pool.num_pages = whole.q_tokens();
  pool.heads_kv = layer.heads_kv;
  pool.head_dim_k = layer.head_dim_qk;
  pool.head_dim_v = layer.head_dim_v;
  pool.page_stride_k = pool.token_stride_k = k.stride[0];
  pool.page_stride_v = pool.token_stride_v = v.stride[0];
  pool.head_stride_k = k.stride[1];
  pool.head_stride_v = v.stride[1];
  return pool;
}

/// Slots of each request's new tokens in that cache.
ReqToTokenPool own_table(const ForwardBatch& whole) {
  ReqToTokenPool table(whole.batch_size, whole.problem->limits.q_len);
  std::int64_t first = 0;
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    const std::int64_t tokens = whole.q_len(r);
    const std::span<std::int32_t> slots = table.row(r + 1);
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t in_page = t % kOwnPage;
      slots[to_size(t)] = narrow_i32((first + t - in_page) * kOwnPage + in_page);
    }
    first += tokens;
  }
  return table;
}

std::unique_ptr<PartStep> own_step(const ForwardBatch& whole) {
  auto step = std::make_unique<PartStep>();
  step->problem = own_problem(*whole.problem);
  step->pool = own_pool(whole);
  step->table = own_table(whole);
  step->batch = whole;
  step->batch.token_to_kv_pool = &step->pool;
  step->batch.req_to_token_pool = &step->table;
  std::vector<std::int32_t> rows = whole.req_pool_indices, lens;
  for (std::int64_t r = 0; r < whole.batch_size; ++r) {
    if (!is_padding(whole, r)) rows[to_size(r)] = narrow_i32(r + 1);
    lens.push_back(narrow_i32(whole.q_len(r)));
  }
  set_requests(*step, std::move(rows), lens, lens);
  return step;
}

class RaggedPagedBackend final : public WrappedBackend {
 public:
  RaggedPagedBackend(std::unique_ptr<Backend> kernels, MergeStates merge)
      : WrappedBackend(std::move(kernels)), merge_(merge) {
    BackendInfo& info = own_info();
    info.description = fmt::format(
        "{} over new keys as they come and over the pages of prefixes, merged by LSE", info.name);
    info.name += ":ragged_paged";
    // SGLang reads only pages in a graph, because a step's own keys lie elsewhere each time.
    info.cuda_graph = CudaGraphSupport::kNever;
    info.by_default = false;
  }

  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (const Support part = looks_at_distances_alone(problem); !part) return part;
    if (!has_extend_lens(problem.mode) && problem.mode != ForwardMode::kIdle) {
      return Support::no("prompts and mixed steps alone have ragged keys");
    }
    if (problem.multi_item) {
      return Support::no("no multi-item scoring: SGLang reads all keys by pages there");
    }
    if (problem.empty_rows) return Support::no("no queries before the first key: each has its own");
    if (problem.cache.dtype != problem.dtype) {
      return Support::no(
          "KV cache in the activations' type only: new keys are read before they are rounded to "
          "the "
          "cache's");
    }
    if (const Support prefix = kernels().supports(prefix_problem(problem)); !prefix) return prefix;
    return kernels().supports(own_problem(problem));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_in_pages(kernels(), problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return numerics_of_merged(kernels(), problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const KvPool& pool = *batch.token_to_kv_pool;
    const bool holds_new_keys = pool.k_scale == 1 && pool.v_scale == 1;
    if (batch.batch_size == 0 || !holds_new_keys) return kernels().plan(batch, memory);
    return std::make_unique<PrefixMerge>(kernels(), batch, prefix_step, own_step, merge_, memory);
  }

 private:
  MergeStates merge_;
};

}  // namespace

std::unique_ptr<Backend> with_ragged_keys(std::unique_ptr<Backend> kernels, MergeStates merge) {
  return std::make_unique<RaggedPagedBackend>(std::move(kernels), merge);
}

}  // namespace attnbench
