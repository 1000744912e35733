// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/expanded_case.h"

#include <fmt/format.h>

#include "lib/fixture/fixture.h"
#include "lib/fixture/memory_need.h"
#include "lib/fixture/state_memory.h"
#include "lib/index/csr.h"
#include "lib/index/page_table.h"
#include "lib/layout/lay_out.h"
#include "lib/layout/pool_demand.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// A case whose index arrays take more is described without them.
constexpr std::int64_t kMostForArrays = std::int64_t{1} << 30;

/// Layouts that differ: MLA's rows lie the same way in NHD and HND.
std::vector<ExpandedCase::Layout> layouts_of(const Case& c, std::int64_t num_pages) {
  std::vector<ExpandedCase::Layout> layouts;
  const std::int64_t requests = std::ssize(c.requests) + c.padding.requests;
  if (c.kv_cache.is_ragged()) {
    return {{KvLayout::kRagged,
             cache_buffers(pool_shape_of(c.layer, cache_format_of(c), num_pages, requests))}};
  }
  for (const KvLayout layout : kPoolLayouts) {
    CacheFormat format = cache_format_of(c);
    const bool repeated = c.layer.shares_row_of_k_and_v() && layout != KvLayout::kNhd;
    if (c.kv_cache.layout ? layout != format.layout : repeated) continue;
    format.layout = layout;
    if (!layout_refusal(c.layer, format).empty()) continue;
    layouts.push_back({layout, cache_buffers(pool_shape_of(c.layer, format, num_pages, requests))});
  }
  return layouts;
}

}  // namespace

BuiltIndices indices_of_case(const IndexFormat& format, const Case& c, const BatchLayout& layout) {
  const Problem problem = problem_of(c);
  return build_indices(format, {layout.batch, problem, layout.num_pages});
}

std::vector<ExpandedPart> expand_parts(const Case& c, std::span<const StepPart> measured) {
  BackendInfo writer;
  writer.writes_kv = true;
  std::vector<ExpandedPart> parts;
  for (const StepPart step : measured) {
    ExpandedPart& part = parts.emplace_back(ExpandedPart{with_step(c, step), {}, {}});
    part.why_not = why_not_built(c, step);
    writer.runs_pipeline = is_pipeline(step);
    writer.writes_index_keys = writes_index(step);
    if (part.why_not.empty() && writes_kv(step)) {
      part.why_not = supports_step(writer, part.of).reason();
    }
    if (part.why_not.empty()) part.cost = count_cost(part.of);
  }
  return parts;
}

ExpandedCase expand_case(const Case& c, std::span<const IndexFormat* const> formats) {
  if (c.layer.is_recurrent()) return expand_recurrent_case(c, formats);
  const PoolDemand demand = pool_demand(c);
  ExpandedCase e;
  e.source = &c;
  e.cost = count_cost(c);
  e.common_prefix_len = common_prefix_len(c);
  e.use_cascade = choose_cascade(c, kDefaultSmCount);
  e.num_pages = demand.num_pages;
  e.pages_used = demand.pages * (c.kv_cache.manager_page() / c.kv_cache.page_size);
  e.page_use = page_use(c);
  e.pool_bytes = cache_bytes(pool_shape_of(c.layer, cache_format_of(c), e.num_pages,
                                           std::ssize(c.requests) + c.padding.requests));
  e.layouts = layouts_of(c, e.num_pages);
  // A format may name every slot of the pool.
  const std::int64_t named = formats.empty() ? 0 : e.num_pages * c.kv_cache.page_size;
  const std::int64_t bytes =
      memory_need(c).lay_out + named * static_cast<std::int64_t>(sizeof(std::int64_t));
  if (bytes > kMostForArrays) {
    e.arrays_left_out =
        fmt::format("left out: they would take {:.1f} GB", static_cast<double>(bytes) / 1e9);
    return e;
  }

  BatchLayout layout = lay_out(c);
  ForwardBatch& batch = layout.batch;
  batch.req_to_token_pool = &layout.req_to_token_pool;
  const CsrIndices csr = build_csr(batch, c.kv_cache.page_size);
  const PageTable table = build_page_table(batch, c.kv_cache.page_size);
  e.arrays = {abridged("seq_lens", batch.seq_lens),
              abridged("qo_indptr", qo_indptr(batch)),
              abridged("kv_indptr", csr.kv_indptr),
              abridged("kv_indices", csr.kv_indices),
              abridged("kv_last_page_len", csr.kv_last_page_len),
              abridged("page_table", table.page_table),
              abridged("positions", batch.positions),
              abridged("out_cache_loc", batch.out_cache_loc)};
  if (c.layer.is_cross_attention) {
    e.arrays.push_back(abridged("encoder_lens", batch.encoder_lens));
    e.arrays.push_back(abridged("encoder_out_cache_loc", batch.encoder_out_cache_loc));
  }
  if (batch.spec_info && !c.layer.is_cross_attention) {
    e.arrays.push_back(abridged("custom_mask", batch.spec_info->custom_mask));
    e.arrays.push_back(abridged("retrive_next_token", batch.spec_info->retrive_next_token));
    e.arrays.push_back(abridged("retrive_next_sibling", batch.spec_info->retrive_next_sibling));
  }
  for (const IndexFormat* format : formats) {
    e.indices.push_back(indices_of_case(*format, c, layout));
  }
  return e;
}

ExpandedCase expand_recurrent_case(const Case& c, std::span<const IndexFormat* const> formats) {
  ExpandedCase e;
  e.source = &c;
  e.cost = count_cost(c);
  e.use_cascade = choose_cascade(c, kDefaultSmCount);
  e.state_slots = state_slots(c);
  e.pool_bytes = state_pool_bytes(c);
  e.intermediate_state_bytes = intermediate_state_bytes(c, c.q_tokens());
  const BatchLayout layout = lay_out(c);
  const ForwardBatch& batch = layout.batch;
  e.arrays = {abridged("query_start_loc", qo_indptr(batch)),
              abridged("state_indices", batch.state_indices),
              abridged("has_initial_state", batch.has_initial_state),
              abridged("positions", batch.positions)};
  if (batch.spec_info) {
    e.arrays.push_back(abridged("retrieve_parent_token", batch.spec_info->retrieve_parent_token));
  }
  for (const IndexFormat* format : formats) {
    e.indices.push_back(indices_of_case(*format, c, layout));
  }
  return e;
}

}  // namespace attnbench
