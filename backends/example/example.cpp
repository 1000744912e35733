// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/example/example.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/backend/features.h"

namespace attnbench::example {

const BackendInfo& Example::info() const noexcept {
  static const BackendInfo info{.name = "example",
                                .version = "1",
                                .description = "the README's worked example",
                                .index_format = "req_to_token",
                                .device = DeviceKind::kCpu,
                                .deterministic = true};
  return info;
}

Support Example::supports(const Problem& problem) const {
  // Plain causal attention over keys and values.
  return unsupported_by_default(problem,
                                {Feature::kEmptyRows, Feature::kSwaPool, Feature::kPageGaps});
}

// [README: the kernel]
class PlannedExample final : public Plan {
 public:
  PlannedExample(const ForwardBatch& batch, PlanMemory& memory) : batch_(batch) {
    std::size_t longest = 1;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      longest = std::max(longest, static_cast<std::size_t>(batch.kv_len(r)));
    }
    scores_ = reinterpret_cast<float*>(memory.reserve(longest * sizeof(float)));
  }

  void run(Stream&) override {
    const AttentionLayer& layer = batch_.problem->layer;
    const AttentionTensors& tensors = batch_.tensors;
    const KvPool& pool = *batch_.token_to_kv_pool;
    std::int64_t row = 0;  // query token of the whole batch
    for (std::int64_t r = 0; r < batch_.batch_size; ++r) {
      const auto slots =
          batch_.req_to_token_pool->row(batch_.req_pool_indices[static_cast<std::size_t>(r)]);
      const std::int64_t q_len = batch_.q_len(r), kv_len = batch_.kv_len(r);
      for (std::int64_t token = 0; token < q_len; ++token, ++row) {
        const std::int64_t visible = kv_len - q_len + token + 1;  // causal, bottom-right
        for (int head = 0; head < layer.heads_q; ++head) {
          const int kv_head = head / layer.group_size();
          const auto element = [](DType dtype, const std::byte* at, int d) {
            return load(dtype, at + d * size_bytes(dtype));
          };
          float top = -std::numeric_limits<float>::infinity(), sum = 0;
          for (std::int64_t j = 0; j < visible; ++j) {
            const std::byte* const k = pool.k_row(slots[static_cast<std::size_t>(j)], kv_head);
            float dot = 0;
            for (int d = 0; d < layer.head_dim_qk; ++d) {
              dot +=
                  element(tensors.q.dtype, tensors.q.row(row, head), d) * element(pool.dtype, k, d);
            }
            scores_[j] = dot * pool.k_scale * static_cast<float>(layer.scale);
            top = std::max(top, scores_[j]);
          }
          for (std::int64_t j = 0; j < visible; ++j) sum += scores_[j] = std::exp(scores_[j] - top);
          for (int d = 0; d < layer.head_dim_v; ++d) {
            float out = 0;
            for (std::int64_t j = 0; j < visible; ++j) {
              const std::byte* const v = pool.v_row(slots[static_cast<std::size_t>(j)], kv_head);
              out += scores_[j] * element(pool.dtype, v, d);
            }
            store(tensors.out.dtype, tensors.out.row(row, head) + d * size_bytes(tensors.out.dtype),
                  visible > 0 ? out * pool.v_scale / sum : 0);
          }
          store(DType::kF32, tensors.lse.row(row, head), top + std::log(sum));
        }
      }
    }
  }

 private:
  const ForwardBatch& batch_;
  float* scores_ = nullptr;  ///< [longest kv_len], in the plan's memory: run() allocates nothing
};

std::unique_ptr<Plan> Example::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<PlannedExample>(batch, memory);
}
// [README: end]

}  // namespace attnbench::example
