// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/common/kv_write.h"

namespace attnbench {
namespace {

/// Rows of K, or of V, of all tokens and heads.
struct Rows {
  ConstTensorView from;
  float scale = 1;  ///< that a stored number is multiplied with
  bool is_value = false;
};

/// One row, in the type of the cache.
void write_row(const Rows& rows, const std::byte* from, DType to_dtype, std::byte* to) {
  const std::int64_t dim = rows.from.shape[2];
  if (rows.from.dtype == to_dtype && rows.scale == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(dim * size_bytes(to_dtype)));
    return;
  }
  const std::int64_t step_from = size_bytes(rows.from.dtype), step_to = size_bytes(to_dtype);
  for (std::int64_t d = 0; d < dim; ++d) {
    store(to_dtype, to + d * step_to, load(rows.from.dtype, from + d * step_from) / rows.scale);
  }
}

class PlannedWrite final : public Plan {
 public:
  explicit PlannedWrite(const ForwardBatch& batch) : batch_(&batch) {}

  void run(Stream&) override {
    const KvPool& pool = *batch_->token_to_kv_pool;
    write({batch_->tensors.k_new, pool.k_scale, false}, pool);
    if (batch_->problem->layer.shares_row_of_k_and_v()) return;  // V is part of the row
    write({batch_->tensors.v_new, pool.v_scale, true}, pool);
  }

 private:
  void write(const Rows& rows, const KvPool& pool) const {
    const std::int64_t tokens = batch_->q_tokens();
#pragma omp parallel for schedule(static)
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t slot = batch_->out_cache_loc[static_cast<std::size_t>(token)];
      for (int head = 0; head < pool.heads_kv; ++head) {
        std::byte* const to = rows.is_value ? pool.v_row(slot, head) : pool.k_row(slot, head);
        write_row(rows, rows.from.row(token, head), pool.dtype, to);
      }
    }
  }

  const ForwardBatch* batch_;
};

}  // namespace

std::unique_ptr<Plan> plan_kv_write_on_cpu(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<PlannedWrite>(batch);
}

}  // namespace attnbench
