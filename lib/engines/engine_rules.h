// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/engines/engine_backends.h"
#include "lib/engines/setup_condition.h"

namespace attnbench {

/// One rule of an engine's choice, which decides where all its conditions hold.
struct ChoiceRule {
  std::vector<SetupCondition> when;
  std::string of;                     ///< what was chosen before; empty: whatever was
  std::string take;                   ///< empty: the first of the list, or nothing
  std::vector<std::string> first_of;  ///< that fits
  /// One sentence, in which {device}, {heads} and {topk} stand for those of the setup; a list's
  /// says itself what was passed over.
  std::string why;
};

/// What one version of an engine chooses, and what its backends take: data/sglang.yaml and
/// data/vllm.yaml, which name their sources.
struct EngineRules {
  std::vector<EngineBackend> backends;
  /// The features that a list's choice looks at. It takes a backend that lacks another one, whose
  /// layers then fail to be built, or compute something else.
  EngineFeatures validated;
  // The first rule that holds decides; where none does, the engine takes nothing that is known.
  std::vector<ChoiceRule> attention;
  std::vector<ChoiceRule> replacements;  ///< of that choice, by what the server does afterwards
  std::vector<ChoiceRule> linear;        ///< for linear layers
  std::vector<ChoiceRule> vision;        ///< for vision towers
};

/// The rules of the version that the setup's server has.
[[nodiscard]] const EngineRules& rules_of(Engine engine, const EngineSetup& setup);

}  // namespace attnbench
