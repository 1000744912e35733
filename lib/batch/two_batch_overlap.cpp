// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/two_batch_overlap.h"

#include <cstdlib>
#include <limits>
#include <numeric>

namespace attnbench {

std::int64_t split_extend_lens(std::span<const std::int32_t> extend_seq_lens) {
  const std::int64_t all =
      std::accumulate(extend_seq_lens.begin(), extend_seq_lens.end(), std::int64_t{0});
  std::int64_t best = 0, least = std::numeric_limits<std::int64_t>::max(), left = 0;
  for (std::size_t i = 1; i < extend_seq_lens.size(); ++i) {
    left += extend_seq_lens[i - 1];
    const std::int64_t difference = std::abs(left - (all - left));
    if (difference > least) continue;
    least = difference;
    best = static_cast<std::int64_t>(i);
  }
  return best;
}

TwoBatchSplit two_batch_split(const ForwardBatch& batch) {
  TwoBatchSplit split;
  if (batch.forward_mode == ForwardMode::kIdle || batch.batch_size == 0) return split;
  split.requests = has_extend_lens(batch.forward_mode) ? split_extend_lens(batch.extend_seq_lens)
                                                       : batch.batch_size / 2;
  for (std::int64_t r = 0; r < split.requests; ++r) split.tokens += batch.q_len(r);
  return split;
}

}  // namespace attnbench
