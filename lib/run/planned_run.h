// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/run/run_plan.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// A scenario whose settings the options have overridden, and which part of it to run.
struct PlannedRun {
  Scenario scenario;
  RunFilter filter;
  Registry registry;  ///< with the backends of plug-ins that the scenario names
  RunPlan plan{};     ///< of these three; its entries are the registry's
};

/// A part of a run's cases: those whose index in the list, counted from 0, is index - 1 modulo
/// count. So equal command lines give equal parts, and neighbours of a sweep, whose costs are
/// similar, go to different parts.
struct Shard {
  std::size_t index = 1, count = 1;

  /// "2/4". Throws ConfigError for anything but 1 <= index <= count.
  [[nodiscard]] static Shard parse(const std::string& text);

  [[nodiscard]] bool holds(std::size_t place) const { return place % count == index - 1; }
};

/// Leaves in each run its cases of the shard, and only runs that have some. Throws ConfigError
/// where there is no case for it.
void keep_shard(const Shard& shard, std::vector<PlannedRun>& runs);

/// `run --hybrid best`: beside the run's backends, every pair of two of them that can be one, the
/// first for prompts and the second for decodes; and of its cases the mixed ones, since only there
/// do both parts of a pair work. Throws ConfigError where there is no such case or no such pair.
void pair_backends(PlannedRun& run);

/// Where a step is a pipeline: names in the run's filter every one of its backends, an indexer, a
/// selector and attention on one device. Of a stage that none of the backends named can be, all
/// present ones take part; where nobody names any, only those of the GPU, if there are. Throws
/// ConfigError where there is none.
void add_pipelines(PlannedRun& run);

/// Which parts of a step are left out of which mixes: those that choose keys where there are none.
[[nodiscard]] std::vector<std::string> notes_on_steps(const std::vector<PlannedRun>& runs);

/// What a person who loaded plug-ins should know where no option names backends: which of their
/// backends are absent, and which files have none that takes part because the scenarios list
/// others.
[[nodiscard]] std::vector<std::string> notes_on_plugins(const std::vector<PlannedRun>& runs);

}  // namespace attnbench
