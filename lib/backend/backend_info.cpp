// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/backend_info.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnbench {

std::string_view to_string(CudaGraphSupport support) {
  switch (support) {
    case CudaGraphSupport::kNever:
      return "NEVER";
    case CudaGraphSupport::kUniformSingleTokenDecode:
      return "UNIFORM_SINGLE_TOKEN_DECODE";
    case CudaGraphSupport::kUniformBatch:
      return "UNIFORM_BATCH";
    case CudaGraphSupport::kAlways:
      return "ALWAYS";
  }
  return "?";
}

CudaGraphSupport needed_cuda_graph_support(const Problem& problem) {
  switch (problem.mode) {
    case ForwardMode::kIdle:
    case ForwardMode::kDecode:
    case ForwardMode::kTargetVerify:
    case ForwardMode::kDraftExtendV2:
      break;
    case ForwardMode::kExtend:
    case ForwardMode::kMixed:
    case ForwardMode::kDraftExtend:
    case ForwardMode::kSplitPrefill:
    case ForwardMode::kDllmExtend:
      return CudaGraphSupport::kAlways;
  }
  if (!problem.limits.is_uniform()) return CudaGraphSupport::kAlways;
  return problem.limits.q_len <= 1 ? CudaGraphSupport::kUniformSingleTokenDecode
                                   : CudaGraphSupport::kUniformBatch;
}

bool is_for_step(const BackendInfo& info, StepPart part) {
  const auto built = [&](StepPart each) {
    return (each == StepPart::kIndex && !info.builds_indices.empty()) ||
           (each == StepPart::kSelect && info.selects_keys) ||
           (each == StepPart::kIndexer && info.scores_keys) ||
           (each == StepPart::kIndexWrite && info.writes_index_keys && !info.runs_pipeline) ||
           (each == StepPart::kCompress && info.compresses) ||
           (is_pipeline(each) && info.runs_pipeline && info.writes_kv == writes_kv(each) &&
            info.writes_index_keys == writes_index(each));
  };
  return builds(part) ? built(part) : std::ranges::none_of(kStepParts, built);
}

Support supports_padding(const BackendInfo& selector, const Problem& problem) {
  const bool ends_in_front = problem.layer.selection.padding == SelectionPadding::kFront;
  if (!ends_in_front || selector.pads_front) return Support::yes();
  return Support::no("it leaves -1 behind its lists only, not before them (padding: front)");
}

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
