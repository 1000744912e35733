// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "lib/engines/engine_features.h"
#include "lib/engines/engine_setup.h"

namespace attnbench {

/// What a rule of an engine asks of a setup: "MLA", "sm9x", "not trees", or the word of a feature,
/// "sinks".
class SetupCondition {
 public:
  /// None where no condition and no feature has the word.
  [[nodiscard]] static std::optional<SetupCondition> find(std::string_view word);

  [[nodiscard]] bool holds_for(const EngineSetup& setup) const;

 private:
  using Test = bool (*)(const EngineSetup&);

  bool wanted_ = true;
  Test test_ = nullptr;
  EngineFeature feature_{};  ///< where `test_` is null
};

}  // namespace attnbench
