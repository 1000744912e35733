// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/cuda_graph_limits.h"

#include "lib/base/error.h"

namespace attnbench {

CudaGraphLimits::CudaGraphLimits(int max_bs, int max_num_tokens)
    : max_bs_(max_bs), max_num_tokens_(max_num_tokens) {
  expects(max_bs > 0 && max_num_tokens >= max_bs && max_num_tokens % max_bs == 0,
          "a graph's requests have the same number of query tokens each, at least one");
}

void CudaGraphLimits::admit(const ForwardBatch& batch) {
  expects(batch.req_to_token_pool != nullptr, "a batch without its req_to_token_pool");
  if (max_kv_len_ == 0) max_kv_len_ = batch.req_to_token_pool->max_context_len();
  check(batch);
}

void CudaGraphLimits::check(const ForwardBatch& batch) const {
  expects(max_bs_ > 0, "init_cuda_graph_state() comes before the first capture");
  expects(max_kv_len_ > 0, "a CUDA graph is captured before it is replayed");
  expects(batch.forward_mode == ForwardMode::kDecode ||
              batch.forward_mode == ForwardMode::kTargetVerify,
          "only decode and target_verify steps are captured");
  expects(batch.batch_size > 0 && batch.batch_size <= max_bs_,
          "a batch larger than init_cuda_graph_state() made room for");
  expects(batch.q_len(0) <= max_q_len(),
          "more query tokens than init_cuda_graph_state() made room for");
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    expects(batch.kv_len(r) <= max_kv_len_, "a request longer than its row in the pool");
  }
}

}  // namespace attnbench
