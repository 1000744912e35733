// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/two_batch_overlap.h"

#include <cstdlib>
#include <limits>
#include <numeric>

namespace attnbench {
namespace {

/// The default of SGLang's --tbo-token-distribution-threshold (server_args.py): the part of the
/// tokens that either half has at the least before a request is cut in two.
constexpr double kDistributionThreshold = 0.48;

TwoBatchSplit between_requests(std::span<const std::int32_t> lens, std::int64_t all) {
  TwoBatchSplit best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), left = 0;
  for (std::size_t i = 1; i < lens.size(); ++i) {
    left += lens[i - 1];
    const std::int64_t difference = std::abs(left - (all - left));
    if (difference > least) continue;
    least = difference;
    best = {static_cast<std::int64_t>(i), left};
  }
  return best;
}

/// Behind half of the tokens, wherever that is.
TwoBatchSplit inside_a_request(std::span<const std::int32_t> lens, std::int64_t all) {
  TwoBatchSplit split{0, all / 2};
  std::int64_t left = 0;
  for (const std::int32_t len : lens) {
    left += len;
    if (left > split.tokens) break;
    ++split.requests;
  }
  return split;
}

}  // namespace

bool has_two_batch_split(ForwardMode mode) {
  return is_decode_or_idle(mode) || mode == ForwardMode::kTargetVerify ||
         mode == ForwardMode::kExtend || mode == ForwardMode::kMixed;
}

TwoBatchSplit split_extend_lens(std::span<const std::int32_t> extend_seq_lens) {
  const std::int64_t all =
      std::accumulate(extend_seq_lens.begin(), extend_seq_lens.end(), std::int64_t{0});
  const TwoBatchSplit whole = between_requests(extend_seq_lens, all);
  const auto left = static_cast<double>(whole.tokens), tokens = static_cast<double>(all);
  const bool balanced =
      left >= tokens * kDistributionThreshold && left <= tokens * (1 - kDistributionThreshold);
  if (balanced) return whole;
  const TwoBatchSplit cut = inside_a_request(extend_seq_lens, all);
  // SGLang's kernels need a token for each request that the left half has a part of.
  return cut.requests + 1 > cut.tokens ? whole : cut;
}

TwoBatchSplit two_batch_split(const ForwardBatch& batch) {
  if (batch.forward_mode == ForwardMode::kIdle) return {};
  if (has_extend_lens(batch.forward_mode)) return split_extend_lens(batch.extend_seq_lens);
  TwoBatchSplit split{batch.batch_size / 2};
  for (std::int64_t r = 0; r < split.requests; ++r) split.tokens += batch.q_len(r);
  return split;
}

}  // namespace attnbench
