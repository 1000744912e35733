// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/engines/engine_choice.h"
#include "lib/result/record.h"

namespace attnbench {

/// What each engine takes for a model.
struct EngineSelection {
  std::string model;
  int tp = 1;
  EngineSetup setup;
  /// Results whose cases of this model and tp are compared with it; none: there is no such part.
  std::optional<RunResult> measured;
  std::string scenario = "SCENARIO.yaml";  ///< that the line which times the choices runs
};

/// Choice, reason and flags of each engine, and of each measured case the fastest correct backend
/// and what the engines' choices cost. Throws ConfigError where results hold no cell of the model
/// on so many ranks, with those that they hold.
void write_selection_table(const EngineSelection& selection, std::ostream& out);
void write_selection_json(const EngineSelection& selection, std::ostream& out);

}  // namespace attnbench
