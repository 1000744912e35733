// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/hybrid_pairs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/run/run_plan.h"
#include "lib/session/hybrid_entry.h"

namespace attnbench {
namespace {

std::vector<std::string> mixed_cases(const PlannedRun& run) {
  std::vector<std::string> ids;
  for (const Case* c : select_cases(run.scenario, run.filter)) {
    if (c->mode == ForwardMode::kMixed) ids.push_back(c->id);
  }
  return ids;
}

/// Backends that are present, without those of the processor that only step in.
std::vector<std::string> present_backends(const PlannedRun& run) {
  const RunPlan plan = plan_run(run.scenario, run.registry, run.filter);
  const auto& fallbacks = plan.cpu_fallbacks;
  std::vector<std::string> names;
  for (const Registry::Entry* entry : plan.backends) {
    if (entry->make && std::ranges::find(fallbacks, entry) == fallbacks.end()) {
      names.push_back(entry->info.name);
    }
  }
  return names;
}

}  // namespace

void add_pairs(PlannedRun& run) {
  std::vector<std::string> cases = mixed_cases(run), pairs;
  if (cases.empty()) {
    throw ConfigError(
        "--hybrid best: no case mixes prompts and decodes; in all others a pair is one of its two "
        "backends");
  }
  std::vector<std::string> names = present_backends(run);
  for (const std::string& prefill : names) {
    for (const std::string& decode : names) {
      if (prefill == decode || is_hybrid(prefill) || is_hybrid(decode)) continue;
      const std::string pair = prefill + '+' + decode;
      try {
        add_hybrid(run.registry, pair);
        pairs.push_back(pair);
      } catch (const ConfigError&) {  // of two devices, or of two plug-in files
      }
    }
  }
  if (pairs.empty()) {
    throw ConfigError(
        "--hybrid best: no two backends can be a pair; --backend NAME,NAME names them, both of one "
        "device");
  }
  for (std::string& pair : pairs) {
    if (std::ranges::find(names, pair) == names.end()) names.push_back(std::move(pair));
  }
  run.filter = {std::move(cases), std::move(names)};
}

}  // namespace attnbench
