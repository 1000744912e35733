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
  /// What the engine would take but for features and pages of the setup: "fa3" where an e5m2 cache
  /// makes it triton. Empty: the same.
  std::string instead_of;
};

/// By the rules of data/sglang.yaml and data/vllm.yaml.
[[nodiscard]] EngineChoice choose_backend(Engine engine, const EngineSetup& setup);

/// What it takes for the linear layers of a model, EngineSetup::linear, beside the choice for its
/// attention.
[[nodiscard]] EngineChoice choose_linear_backend(Engine engine, const EngineSetup& setup);

/// What it takes for a vision tower.
[[nodiscard]] EngineChoice choose_vision_backend(Engine engine, const EngineSetup& setup);

}  // namespace attnbench
