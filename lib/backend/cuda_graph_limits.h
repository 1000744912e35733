// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The batches that a backend's CUDA graphs are laid out for: uniform query lengths, decode or
/// target_verify. Throws InternalError for any other.
class CudaGraphLimits {
 public:
  /// No limits, no graphs.
  CudaGraphLimits() = default;
  CudaGraphLimits(int max_bs, int max_num_tokens);

  /// Checks the first batch of a size. The first of all says how long a context may become: the
  /// width of its req_to_token.
  void admit(const ForwardBatch& batch);
  /// Checks a batch that an admitted one's graph is to repeat.
  void check(const ForwardBatch& batch) const;

  [[nodiscard]] std::int64_t max_bs() const { return max_bs_; }
  [[nodiscard]] std::int64_t max_num_tokens() const { return max_num_tokens_; }
  /// Query tokens of a request.
  [[nodiscard]] std::int64_t max_q_len() const { return max_num_tokens_ / max_bs_; }
  /// Keys of a request, this step's own included.
  [[nodiscard]] std::int64_t max_kv_len() const { return max_kv_len_; }

 private:
  std::int64_t max_bs_ = 0;
  std::int64_t max_num_tokens_ = 0;
  std::int64_t max_kv_len_ = 0;
};

}  // namespace attnbench
