// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// FlashAttention's varlen description of a batch.
struct Varlen {
  std::vector<std::int32_t> cu_seqlens_q;  ///< [B + 1]
  std::vector<std::int32_t> cu_seqlens_k;  ///< [B + 1]; equals cu_seqlens_q where nothing is cached
  std::int64_t max_seqlen_q = 0;
  std::int64_t max_seqlen_k = 0;
};
[[nodiscard]] Varlen build_varlen(const ForwardBatch& batch);

}  // namespace attnbench
