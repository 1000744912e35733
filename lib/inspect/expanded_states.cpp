// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/fixture/fixture.h"
#include "lib/fixture/state_memory.h"
#include "lib/index/csr.h"
#include "lib/inspect/expanded_case.h"

namespace attnbench {

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
