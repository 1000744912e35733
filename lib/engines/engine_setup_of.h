// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "lib/engines/engine_setup.h"
#include "lib/engines/flashinfer_prefill.h"
#include "lib/model/model_geometry.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// A server that is started for this case: its model is the case's, whose other layers count too,
/// its page size and cache are the case's, its drafts have the case's trees. Launched without a
/// CUDA graph; `deterministic`: for deterministic inference.
[[nodiscard]] EngineSetup engine_setup_of(const Case& c, const EngineDevice& device,
                                          bool deterministic = false);

/// A server of a whole model on `tp` ranks, with vLLM's and SGLang's defaults. Throws ConfigError
/// where the heads do not divide.
[[nodiscard]] EngineSetup engine_setup_of(const ModelGeometry& model, int tp,
                                          const EngineDevice& device);

/// How SGLang's FlashInfer would read the keys of a prompt or a mixed step, outside of a graph;
/// `deterministic`: of a server with --enable-deterministic-inference. Nothing for other steps, and
/// for models that never take FlashInfer.
[[nodiscard]] std::optional<PrefillDecision> prefill_of_sglang(const Case& c, bool deterministic);

}  // namespace attnbench
