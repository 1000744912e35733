// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/expanded_case.h"

#include <fmt/format.h>

#include "lib/base/dtype.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/memory_need.h"
#include "lib/fixture/pool_demand.h"
#include "lib/index/csr.h"
#include "lib/index/page_table.h"

namespace attnbench {
namespace {

constexpr std::size_t kShown = 4;  ///< entries at each end

/// A case whose index arrays take more is described without them.
constexpr std::int64_t kMostForArrays = std::int64_t{1} << 30;

template <class Integer>
AbridgedArray abridged(std::string name, const std::vector<Integer>& values) {
  AbridgedArray array;
  array.name = std::move(name);
  array.size = static_cast<std::int64_t>(values.size());
  const std::size_t head = values.size() <= 2 * kShown ? values.size() : kShown;
  for (std::size_t i = 0; i < head; ++i) array.head.push_back(values[i]);
  if (head < values.size()) {
    for (std::size_t i = values.size() - kShown; i < values.size(); ++i) {
      array.tail.push_back(values[i]);
    }
  }
  return array;
}

std::int64_t pool_bytes(const Case& c, std::int64_t num_pages) {
  // A latent row of MLA is both K and V.
  const std::int64_t row = c.layer.kind == AttentionKind::kMlaAbsorbed
                               ? c.layer.head_dim_qk
                               : c.layer.head_dim_qk + c.layer.head_dim_v;
  return num_pages * c.kv_cache.page_size * c.layer.heads_kv * row * size_bytes(c.kv_cache.dtype);
}

}  // namespace

ExpandedCase expand_case(const Case& c) {
  const PoolDemand demand = pool_demand(c);
  ExpandedCase e;
  e.source = &c;
  e.cost = count_cost(c);
  e.common_prefix_len = common_prefix_len(c);
  e.use_cascade = choose_cascade(c, kUsualMultiprocessors);
  e.num_pages = demand.capacity + 1;
  e.pages_used = demand.pages;
  e.pool_bytes = pool_bytes(c, e.num_pages);
  const std::int64_t bytes = memory_need(c).lay_out;
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
  if (batch.spec_info) {
    e.arrays.push_back(abridged("custom_mask", batch.spec_info->custom_mask));
    e.arrays.push_back(abridged("retrive_next_token", batch.spec_info->retrive_next_token));
    e.arrays.push_back(abridged("retrive_next_sibling", batch.spec_info->retrive_next_sibling));
  }
  return e;
}

}  // namespace attnbench
