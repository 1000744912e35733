// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/batch/problem.h"
#include "lib/engines/engine_setup.h"

namespace attnbench {

/// The least level that lets an engine record such a step and replay it. SGLang also has graphs of
/// draft_extend steps (speculative/eagle_draft_extend_cuda_graph_runner.py) and of blocks of
/// diffusion (is_dllm in model_executor/runner/decode_cuda_graph_runner.py), each of a fixed number
/// of tokens a request; in vLLM these are prompts like others.
[[nodiscard]] CudaGraphSupport graph_needed_in(Engine engine, const Problem& problem);

}  // namespace attnbench
