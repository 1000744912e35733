// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"

namespace attnbench::mla {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "mla";
  info.version = "1";
  info.description = "absorbed MLA on tensor cores, keys split, merged by LSE";
  info.index_format = "block_table";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.writes_fp8_outputs = true;
  return info;
}

}  // namespace attnbench::mla
