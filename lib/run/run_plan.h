// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/cost/cost.h"
#include "lib/scenario/scenario.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {

/// What of a scenario to run. Empty lists mean all.
struct RunFilter {
  std::vector<std::string> cases;     ///< ids, or globs with * and ?
  std::vector<std::string> backends;  ///< names, or globs
  /// Names of pipelines for steps of StepPart::kPipeline, beside those among `backends`. Of these
  /// a case leaves out those that refuse it.
  std::vector<std::string> pipelines = {};
};

/// Cases of `scenario` that the filter lets through, in order. Throws ConfigError naming the
/// nearest id when a pattern matches nothing.
[[nodiscard]] std::vector<const Case*> select_cases(const Scenario& scenario,
                                                    const RunFilter& filter);

/// Whether `pattern` is the id of a case, or a glob that matches one.
[[nodiscard]] bool any_case_matches(const Scenario& scenario, const std::string& pattern);

/// The backends of a run: those the filter names, else those the scenario names, else every one
/// that is present and no variant (BackendInfo::by_default). Absent ones and variants are among
/// them only when asked for by name, by their file or by a glob with * and ?: 'splitkv:splits=*'
/// means every value of a tuning parameter.
///
/// Where nobody names any and one of them runs on a GPU, the backends for the processor only step
/// in (RunPlan::cpu_fallbacks): they are among the result only if a case needs one. Throws
/// ConfigError with the nearest name and the list when a name is unknown.
[[nodiscard]] std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                                  const Registry& registry,
                                                                  const RunFilter& filter);

/// A case of a run, or one part of its step.
struct PlannedCase {
  Case c;
  Cost cost;
  std::vector<const Registry::Entry*> backends;  ///< that take part, A/A seconds among them
};

/// What a run does, decided before anything runs. Its entries are those of the registry that it was
/// made with, which must outlive it.
struct RunPlan {
  RunPlan() = default;
  RunPlan(RunPlan&&) = default;  // a copy's entries would be the seconds of another plan
  RunPlan& operator=(RunPlan&&) = default;

  std::vector<PlannedCase> cases;                ///< each once for each part of a step asked for
  std::vector<const Registry::Entry*> backends;  ///< as choose_backends() says
  /// The same, each present one followed by its second where the scenario asks for A/A pairs.
  std::vector<const Registry::Entry*> entries;
  /// Backends for the processor that run only what no backend of the GPU supports; empty where
  /// backends are named, or no GPU takes part.
  std::vector<const Registry::Entry*> cpu_fallbacks;
  AaPairs pairs;  ///< owns the seconds
};

/// Throws ConfigError for every mistake of a user that keeps a run from its start: a pattern or
/// backend that does not exist, a pool that is too small, a case too large to count.
[[nodiscard]] RunPlan plan_run(const Scenario& scenario, const Registry& registry,
                               const RunFilter& filter);

}  // namespace attnbench
