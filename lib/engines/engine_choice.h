// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/engines/engine_setup.h"

namespace attnbench {

/// What an engine takes where nobody names an attention backend.
struct EngineChoice {
  std::string backend;  ///< in the engine's spelling, "fa3", "FLASH_ATTN"; empty: no rule is known
  std::string reason;   ///< the rule that decided, one sentence
  std::string flags;    ///< of its server, that ask for the same: "--attention-backend fa3"
  std::string caveat;   ///< what of the setup the backend does not take; empty: it takes all
};

/// SGLang's rule (python/sglang/srt/server_args.py, _get_default_attn_backend, and the passes of
/// arg_groups/overrides.py before and behind it) or vLLM's (vllm/platforms/cuda.py: the first of a
/// list whose validate_configuration passes).
[[nodiscard]] EngineChoice choose_backend(Engine engine, const EngineSetup& setup);

/// What it takes for the linear layers of a model, EngineSetup::linear, beside the choice for its
/// attention. SGLang wraps both in HybridLinearAttnBackend (attn_backend_wrapper in
/// layers/attention/attention_registry.py) and names the linear layers' kernels; vLLM has a backend
/// for each sort of layer (MambaAttentionBackendEnum in v1/attention/backends/registry.py).
[[nodiscard]] EngineChoice choose_linear_backend(Engine engine, const EngineSetup& setup);

/// What it takes for a vision tower: SGLang's _determine_attention_backend in
/// layers/attention/vision.py, vLLM's get_vit_attn_backend in platforms/cuda.py.
[[nodiscard]] EngineChoice choose_vision_backend(Engine engine, const EngineSetup& setup);

}  // namespace attnbench
