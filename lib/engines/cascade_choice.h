// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "lib/index/usual_gpu.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The tokens that all requests share as vLLM counts them (v1/worker/gpu_model_runner.py,
/// _compute_cascade_attn_prefix_len): whole pages, none of this step's.
[[nodiscard]] std::int64_t common_prefix_len(const Case& c);

/// What is reported as use_cascade: whether vLLM would compute the case with cascade attention.
struct CascadeChoice {
  std::string answer = "-";  ///< "yes", "no", or "-" where no requests share a prefix
  std::string reason;
};
[[nodiscard]] CascadeChoice choose_cascade(const Case& c, int multiprocessors);

}  // namespace attnbench
