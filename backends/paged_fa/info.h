// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"

namespace attnbench::paged_fa {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "paged_fa";
  info.version = "1";
  info.description = "FlashAttention's design: tensor-core tiles over pages, varlen and KV cache";
  info.index_format = "page_table, cache_seqlens, cu_seqlens_q";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.writes_fp8_outputs = true;
  return info;
}

}  // namespace attnbench::paged_fa
