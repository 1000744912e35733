// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"

namespace attnbench::gated_delta_net {

/// What `attnbench list backends` says of the GPU's, with and without nvcc.
[[nodiscard]] inline BackendInfo gpu_info() {
  BackendInfo info;
  info.name = "gated_delta_net_cuda";
  info.version = "1";
  info.description = "gated delta rule token by token, a warp for eight value dims; f32";
  info.index_format = "state_indices";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no state: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  return info;
}

}  // namespace attnbench::gated_delta_net
