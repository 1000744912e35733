// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/judge/judge_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/system.h"
#include "lib/base/this_process.h"
#include "lib/config/word_hints.h"
#include "lib/isolate/file_plugins.h"
#include "lib/isolate/sandbox.h"
#include "lib/run/execute_run.h"
#include "lib/run/planned_run.h"

namespace attnbench {
namespace {

using Entries = std::vector<const Registry::Entry*>;

/// Those of the candidate's file that were asked for, or else all that are no variants. A file of
/// nothing but variants means these.
Entries candidates_in(const Registry& registry, const std::string& file,
                      const std::vector<std::string>& asked) {
  Entries all;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.plugin == file) all.push_back(&entry);
  }
  Entries chosen;
  if (asked.empty()) {
    std::ranges::copy_if(all, std::back_inserter(chosen),
                         [](const auto* entry) { return entry->info.by_default; });
    return chosen.empty() ? all : chosen;
  }
  std::vector<std::string> names;
  for (const Registry::Entry* entry : all) names.push_back(entry->info.name);
  for (const std::string& name : asked) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw ConfigError(fmt::format("--backend: {} has no backend '{}'   {}", file, name,
                                    allowed_words_hint(names, name)));
    }
    chosen.push_back(all[static_cast<std::size_t>(found - names.begin())]);
  }
  return chosen;
}

/// The backends of this program on a candidate's device that are no variants.
std::vector<std::string> usual_rivals(const Registry& registry, const Entries& candidates) {
  std::vector<std::string> names;
  for (const Registry::Entry& entry : registry.entries()) {
    const bool same_device = std::ranges::any_of(candidates, [&](const auto* candidate) {
      return candidate->info.device == entry.info.device;
    });
    if (entry.plugin.empty() && entry.make && entry.info.by_default && same_device) {
      names.push_back(entry.info.name);
    }
  }
  return names;
}

std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const Registry::Entry* entry : entries) names.push_back(entry->info.name);
  return names;
}

/// The rivals of a command line, without the candidate's own backends.
std::vector<std::string> rivals_of(const JudgeOptions& options, const PlannedRun& run,
                                   const Entries& candidates) {
  if (options.against.empty()) return usual_rivals(run.registry, candidates);
  Entries named = choose_backends(run.scenario, run.registry, {{}, options.against});
  std::erase_if(named, [&](const auto* entry) { return entry->plugin == options.candidate; });
  if (named.empty()) throw ConfigError("--against names backends of the candidate only");
  for (const Registry::Entry* entry : named) {
    if (entry->make) continue;
    throw EnvironmentError(
        fmt::format("--against {}: it is absent: {}", entry->info.name, entry->absence));
  }
  return names_of(named);
}

HeldBy held_by(const CandidateSandbox& sandbox) {
  HeldBy held{.tier = 2};
  for (const MissingPart& part : sandbox.missing()) {
    held.missing.push_back(part.text);
    if (part.essential) held.tier = 1;
  }
  return held;
}

}  // namespace

CandidateJudgement judge_candidate(const JudgeOptions& given, const KnownBackends& known,
                                   Console& console) {
  close_memory_to_others();  // before any code of the candidate runs
  std::optional<TemporaryFolder> own;
  if (given.scratch.empty()) own.emplace("judge");
  const CandidateSandbox sandbox(own ? own->file(".") : given.scratch);
  JudgeOptions options = given;
  options.candidate = lasting_path(options.candidate);
  PlannedRun run;
  run.scenario = std::move(scenarios_of(options.run, console.program).front());
  run.scenario.backends.clear();  // those of the file are not asked
  run.scenario.backend_places.clear();
  if (!run.scenario.verify.enabled) {
    throw ConfigError("verify: the scenario switches it off, so that nothing can be judged");
  }
  try {
    run.registry = known.with_candidate(options.candidate, run.scenario, sandbox.words());
  } catch (const PluginCrashed& crash) {
    CandidateJudgement judgement =
        verdict_without_cells(CandidateVerdict::kCrashed, crash.diagnostics().front().message);
    judgement.held = held_by(sandbox);
    return judgement;
  }
  const Entries candidates = candidates_in(run.registry, options.candidate, options.backends);
  const std::vector<std::string> names = names_of(candidates);
  const std::vector<std::string> rivals = rivals_of(options, run, candidates);
  run.filter.backends = names;
  run.filter.backends.insert(run.filter.backends.end(), rivals.begin(), rivals.end());
  run.plan = plan_run(run.scenario, run.registry, run.filter);

  catch_interrupts();
  double spent_s = 0;
  const Lap lap(spent_s);
  RunHooks hooks;
  hooks.stop_requested = [&] { return interrupt_signal() != 0 || lap.seconds() > options.limit_s; };
  const RunResult result = execute_run(
      options.run.execution, run.scenario, run.plan, hooks,
      [&](const std::string& note) { console.err << "note: " << printable(note) << std::endl; });
  CandidateJudgement judgement = candidate_judgement(result, names, rivals);
  if (result.interrupted && lap.seconds() > options.limit_s) {
    judgement.reasons.push_back({CandidateVerdict::kInconclusive,
                                 fmt::format("its {} s were over (--limit)", options.limit_s),
                                 {},
                                 {},
                                 {},
                                 {}});
  }
  judgement.held = held_by(sandbox);
  return judgement;
}

}  // namespace attnbench
