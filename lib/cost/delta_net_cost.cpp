// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/cost/family_costs.h"

namespace attnbench {

Cost delta_net_cost(const Case& c) {
  const AttentionLayer& layer = c.layer;
  const std::int64_t f32 = size_bytes(DType::kF32);
  const Count state = Count(layer.head_dim_qk) * layer.head_dim_v;
  Count states = 0;
  for (const Request& request : c.requests) {
    if (request.q_len == 0) continue;
    states += request.prefix_len() > 0 ? 1 : 0;                          // read
    states += c.mode == ForwardMode::kTargetVerify ? request.q_len : 1;  // written
  }
  const Count state_bytes = states * layer.heads_out() * state * f32;
  const Count token_bytes = (Count(2 * layer.heads_k()) * layer.head_dim_qk +
                             Count(2 * layer.heads_out()) * layer.head_dim_v) *
                                size_bytes(c.dtype) +
                            Count(2 * layer.heads_out()) * f32;
  Cost cost;
  // Decay (one multiplication an element), k^T S, S + k w and q^T S (two operations each).
  cost.flops = (Count(7) * layer.heads_out() * state * c.q_tokens()).value();
  cost.kv_bytes_unique = cost.kv_bytes_streamed = state_bytes.value();
  cost.bytes_unique = cost.bytes_streamed =
      (state_bytes + token_bytes * c.q_tokens() + Count(std::ssize(c.requests)) * f32).value();
  return cost;
}

}  // namespace attnbench
