// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"

namespace attnbench::cascade {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "cascade";
  info.version = "1";
  info.description = "shared prefixes once for all, suffixes each, merged by LSE";
  info.index_format = "kv_indptr/kv_indices";
  info.device = DeviceKind::kCuda;
  // The requests that share a prefix decide which kernels run; vLLM keeps cascade out of its full
  // graphs, too (docs/design/cuda_graphs.md).
  info.cuda_graph = CudaGraphSupport::kNever;
  info.writes_fp8_outputs = true;
  return info;
}

}  // namespace attnbench::cascade
