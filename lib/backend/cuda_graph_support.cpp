// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/cuda_graph_support.h"

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

CudaGraphSupport needed_cuda_graph_support(ForwardMode mode, std::span<const std::int32_t> q_lens) {
  switch (mode) {
    case ForwardMode::kIdle:
    case ForwardMode::kDecode:
    case ForwardMode::kTargetVerify:
      break;
    case ForwardMode::kExtend:
    case ForwardMode::kMixed:
    case ForwardMode::kDraftExtend:
      return CudaGraphSupport::kAlways;
  }
  const auto all_are = [&](std::int32_t q_len) {
    return std::ranges::all_of(q_lens, [=](std::int32_t each) { return each == q_len; });
  };
  if (all_are(1)) return CudaGraphSupport::kUniformSingleTokenDecode;
  return all_are(q_lens[0]) ? CudaGraphSupport::kUniformBatch : CudaGraphSupport::kAlways;
}

}  // namespace attnbench
