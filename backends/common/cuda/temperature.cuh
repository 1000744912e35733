// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/attention_params.h"

namespace attnbench::cuda {

/// What the logits of a query at `place` among its request's keys are multiplied by, in a layer
/// with temperature: logit_temperature() of lib/model/attention_layer.h.
__device__ __forceinline__ float temperature_at(const AttentionParams& p, int place) {
  if (place <= p.temperature_len) return 1;
  return log2f(static_cast<float>(place)) * p.temperature_per_log2;
}

}  // namespace attnbench::cuda
