// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/scenario/case.h"

namespace attnbench {

/// Requests of a layer of Llama-3.1-8B.
[[nodiscard]] inline Case batch_of(int count, std::int64_t q_len, std::int64_t kv_len) {
  Case c;
  c.layer.heads_q = 32;
  c.layer.heads_kv = 8;
  c.layer.head_dim_qk = 128;
  c.layer.head_dim_v = 128;
  for (int i = 0; i < count; ++i) {
    Request request;
    request.q_len = q_len;
    request.kv_len = kv_len;
    c.requests.push_back(request);
  }
  return c;
}

}  // namespace attnbench
