// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/cuda_graph_capture.h"

#include <fmt/format.h>

namespace attnbench {

Support supports_cuda_graph(const BackendInfo& info, const Problem& problem) {
  if (info.device == DeviceKind::kCpu) return Support::no("no CUDA graph on a CPU");
  if (problem.cache.layout == KvLayout::kRagged) {
    return Support::no(
        "no CUDA graph: ragged keys are tensors of one step, whose addresses change with it");
  }
  const CudaGraphSupport needed = needed_cuda_graph_support(problem);
  if (info.cuda_graph >= needed) return Support::yes();
  return Support::no(fmt::format("no CUDA graph: {} needs level {}, the backend claims {}",
                                 to_string(problem.mode), to_string(needed),
                                 to_string(info.cuda_graph)));
}

}  // namespace attnbench
