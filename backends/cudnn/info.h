// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"

namespace attnbench::cudnn {

/// What `attnbench list backends` says in every build; one that can run adds cuDNN's version.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "cudnn";
  info.version = "1";
  info.description = "cuDNN's scaled dot-product attention, called from C++: pages, ragged prompts";
  info.index_format = "page_table, seq_lens, ragged offsets";
  info.device = DeviceKind::kCuda;
  info.deterministic = false;  // its decode kernel was seen to give other bits in a second run
  // Of steps that engines record, those of a draft tree are refused, and no chain of drafts has
  // been recorded.
  info.cuda_graph = CudaGraphSupport::kUniformSingleTokenDecode;
  return info;
}

}  // namespace attnbench::cudnn
