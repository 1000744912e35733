// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/problem.h"

#include "lib/base/error.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

void expect_step_of(const Problem& problem, const ForwardBatch& batch) {
  const StepLimits& limits = problem.limits;
  expects(batch.forward_mode == problem.mode, "a step of another mode than its plan's");
  expects(batch.batch_size <= limits.requests, "more requests than the plan has room for");
  expects(batch.q_tokens() <= limits.q_tokens, "more query tokens than the plan has room for");
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    expects(batch.q_len(r) <= limits.q_len,
            "a request with more query tokens than the plan has room for");
    expects(batch.kv_len(r) <= limits.kv_len,
            "a request with more keys than the plan has room for");
  }
}

}  // namespace attnbench
