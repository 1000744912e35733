// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"
#include "lib/batch/fp8_activations.h"
#include "lib/batch/problem.h"

namespace attnbench {

/// The scales of a step's queries where they are no whole tensor's: [rows, columns], dense.
struct QScaleArray {
  const float* scales = nullptr;  ///< null: of a whole tensor, or none
  QScales kind = QScales::kTensor;
  std::int32_t heads_q = 1, heads_kv = 1;

  /// Of a step with so many of both.
  [[nodiscard]] constexpr std::int64_t rows(std::int64_t requests, std::int64_t tokens) const {
    if (kind == QScales::kToken) return tokens;
    return kind == QScales::kRequest ? requests : 1;
  }
  [[nodiscard]] constexpr std::int64_t columns() const {
    return kind == QScales::kToken ? heads_q : heads_kv;
  }
  /// Of a query head, and of a token that counts in the whole step, as its request does: what the
  /// stored row is multiplied with beside the scale of a whole tensor.
  [[nodiscard]] constexpr float of(std::int64_t request, std::int64_t token, int head) const {
    if (scales == nullptr) return 1.0f;
    if (kind == QScales::kToken) return scales[token * heads_q + head];
    const std::int64_t row = kind == QScales::kRequest ? request : 0;
    return scales[row * heads_kv + head / (heads_q / heads_kv)];
  }
};

[[nodiscard]] inline QScaleArray q_scale_array(const Fp8Activations& fp8,
                                               const AttentionLayer& layer,
                                               const float* scales = nullptr) {
  return {scales, fp8.q_scales, layer.heads_q, layer.heads_kv};
}
/// Of a step; they lie where its tensors do.
[[nodiscard]] inline QScaleArray q_scale_array(const ForwardBatch& batch) {
  return q_scale_array(batch.problem->fp8, batch.problem->layer, batch.tensors.q_scales);
}

}  // namespace attnbench
