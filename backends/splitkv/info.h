// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/plan.h"
#include "lib/backend/backend_info.h"

namespace attnbench::splitkv {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info(SplitRule rule) {
  BackendInfo info;
  info.name = name_of(rule);
  info.version = "1";
  info.description = description_of(rule);
  info.index_format = "kv_indptr/kv_indices";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.by_default = rule == SplitRule::kFill;
  return info;
}

}  // namespace attnbench::splitkv
