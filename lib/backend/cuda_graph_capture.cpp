// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/cuda_graph_capture.h"

#include <fmt/format.h>

#include <vector>

#include "lib/base/narrow.h"

namespace attnbench {

Support supports_cuda_graph(const BackendInfo& info, const Case& c) {
  if (info.device == DeviceKind::kCpu) return Support::no("no CUDA graph on a CPU");
  std::vector<std::int32_t> q_lens;
  for (const Request& request : c.requests) q_lens.push_back(narrow_i32(request.q_len));
  const CudaGraphSupport needed = needed_cuda_graph_support(c.mode, q_lens);
  if (info.cuda_graph >= needed) return Support::yes();
  return Support::no(fmt::format("no CUDA graph: {} needs level {}, the backend claims {}",
                                 to_string(c.mode), to_string(needed), to_string(info.cuda_graph)));
}

}  // namespace attnbench
