// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lib/backend/tuning.h"
#include "lib/base/error.h"
#include "lib/base/glob.h"
#include "lib/config/word_hints.h"
#include "lib/layout/pool_demand.h"
#include "lib/session/backend_code.h"
#include "lib/session/case_support.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// An id is taken literally first: it may itself contain a star.
bool chooses(const std::string& pattern, const Case& c) {
  return c.id == pattern || glob_matches(pattern, c.id);
}

[[noreturn]] void nothing_matched(const Scenario& scenario, const std::string& pattern) {
  std::vector<std::string> ids;
  std::string list;
  for (const Case& c : scenario.cases) {
    ids.push_back(c.id);
    list += (list.empty() ? "" : " ") + c.id;
  }
  const std::string likely = likely_names(pattern, ids);
  throw ConfigError({Diagnostic{
      {},
      1,
      fmt::format("no case of {} matches '{}'", scenario.path, pattern),
      fmt::format("{}cases: {}", likely.empty() ? "" : fmt::format("did you mean {}?   ", likely),
                  list),
      {}}});
}

/// A name, or a glob that matches names; the file of a plug-in means all of its backends. Of a
/// backend in an environment, its name with the environment's, "v33/vllm:fa3", means that one, and
/// without it that of every environment.
bool means(const std::string& word, const Registry::Entry& entry) {
  if (glob_matches(word, entry.info.name) || (!word.empty() && entry.plugin == word)) return true;
  const std::string& environment = entry.info.environment.name;
  if (environment.empty()) return false;
  const std::string name = without_environment(entry.info.name);
  return glob_matches(word, name) || glob_matches(word, name_in(entry.info.environment, name));
}

bool is_known(const Registry& registry, const std::string& word) {
  return std::ranges::any_of(registry.entries(),
                             [&](const Registry::Entry& entry) { return means(word, entry); });
}

/// What is wrong with a name that no backend has, and what may stand there.
struct UnknownName {
  std::string message, hint;
};

/// Of a name such as "splitkv:splits=17" whose base exists.
UnknownName unknown_tuning(const Registry& registry, const std::string& name,
                           const TunedName& asked) {
  std::vector<std::string> parameters, values;
  for (const Registry::Entry& entry : registry.entries()) {
    const std::optional<TunedName> known = tuned_name(entry.info.name);
    if (!known || known->base != asked.base) continue;
    parameters.emplace_back(known->parameter);
    if (known->parameter == asked.parameter) values.emplace_back(known->value);
  }
  if (parameters.empty()) {
    return {fmt::format("backend '{}': {} has no tuning parameters", name, asked.base), ""};
  }
  if (values.empty()) {
    parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
    return {fmt::format("backend '{}': {} has no tuning parameter '{}'", name, asked.base,
                        asked.parameter),
            allowed_words_hint(parameters, asked.parameter, "parameters: ")};
  }
  return {fmt::format("backend '{}': '{}' is no value of {}", name, asked.value, asked.parameter),
          allowed_words_hint(values, asked.value, fmt::format("{}: ", asked.parameter))};
}

/// Whether backends/packs has this pack, whose backends' names begin with the word. The build lists
/// the folder: ",fa3,fla,".
bool is_pack(const std::string& word) {
  return std::string_view(ATTNBENCH_PACKS).find("," + word + ",") != std::string_view::npos;
}

/// Of a name such as "vllm:fa3" without the plug-in that brings it; empty for others.
std::string pack_hint(const Registry& registry, const std::string& name) {
  const std::string own = without_environment(name);
  const std::string prefix = own.substr(0, own.find(':'));
  if (!is_pack(prefix)) return {};
  const bool loaded = std::ranges::any_of(registry.entries(), [&](const Registry::Entry& entry) {
    return without_environment(entry.info.name).starts_with(prefix + ":");
  });
  return loaded ? std::string() : fmt::format("{0} is a pack: --plugin packs/{0}", prefix);
}

UnknownName unknown(const Registry& registry, const std::string& name) {
  const std::optional<TunedName> asked = tuned_name(name);
  if (asked && registry.find(asked->base)) return unknown_tuning(registry, name, *asked);
  const std::string message = fmt::format("unknown backend '{}'", name);
  if (const std::string hint = pack_hint(registry, name); !hint.empty()) return {message, hint};
  std::vector<std::string> names = registry.names();
  std::erase_if(names, [](const std::string& each) { return tuned_name(each).has_value(); });
  return {message, allowed_words_hint(names, name, "backends: ")};
}

/// The file's own names, each with its place.
void check_names_of_file(const Scenario& scenario, const Registry& registry) {
  Problems problems(scenario.text, scenario.path);
  for (std::size_t i = 0; i < scenario.backends.size(); ++i) {
    const std::string& name = scenario.backends[i];
    if (is_plugin_file(name) || is_known(registry, name)) continue;
    const Place place = i < scenario.backend_places.size() ? scenario.backend_places[i] : Place{};
    const UnknownName wrong = unknown(registry, name);
    problems.add(place, wrong.message, wrong.hint);
  }
  problems.throw_if_any();
}

bool runs_on_gpu(const Registry::Entry* entry) { return entry->info.device == DeviceKind::kCuda; }

/// A plug-in is named by its file, so it is no fallback; but a pack brings what its package has for
/// a processor along with what it has for a GPU.
bool is_cpu_fallback(const Registry::Entry* entry) {
  const bool meant = !entry->plugin.empty() && entry->info.packages.empty();
  return !meant && entry->info.device == DeviceKind::kCpu;
}

std::vector<const Registry::Entry*> present_by_default(const Registry& registry) {
  std::vector<const Registry::Entry*> entries;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.make && entry.info.by_default) entries.push_back(&entry);
  }
  return entries;
}

/// A plug-in is not asked, since its code is in another process; its row will tell.
bool supports(const Registry::Entry& entry, const Case& c) {
  if (!supports_step(entry.info, c)) return false;
  if (!entry.plugin.empty()) return true;
  try {
    return bool(call_backend([&] { return choose_format_of(*entry.make(), c); }));
  } catch (const BackendFailed&) {
    return false;  // its row will say so
  }
}

bool gpu_supports(const Case& c, std::span<const Registry::Entry* const> entries) {
  return std::ranges::any_of(entries, [&](const Registry::Entry* entry) {
    return runs_on_gpu(entry) && supports(*entry, c);
  });
}

std::vector<const Registry::Entry*> named(const std::vector<std::string>& names,
                                          const Registry& registry) {
  std::vector<const Registry::Entry*> entries;
  for (const std::string& name : names) {
    for (const Registry::Entry& entry : registry.entries()) {
      const bool is_new = std::ranges::find(entries, &entry) == entries.end();
      if (is_new && means(name, entry)) entries.push_back(&entry);
    }
  }
  return entries;
}

/// The backends that are asked for, or are present where none are.
struct Candidates {
  std::vector<const Registry::Entry*> entries;
  std::vector<const Registry::Entry*> cpu_fallbacks;  ///< as of RunPlan
  bool are_named = false;
};

Candidates candidates_of(const Scenario& scenario, const Registry& registry,
                         const RunFilter& filter) {
  // The scenario's own names are checked even when the filter overrides them: a mistake in the
  // file does not hide.
  check_names_of_file(scenario, registry);
  for (const std::string& name : filter.backends) {
    if (is_known(registry, name)) continue;
    const UnknownName wrong = unknown(registry, name);
    throw ConfigError({Diagnostic{{}, 1, wrong.message, wrong.hint, {}}});
  }
  if (!filter.backends.empty()) return {named(filter.backends, registry), {}, true};
  if (!scenario.backends.empty()) return {named(scenario.backends, registry), {}, true};
  Candidates found{present_by_default(registry), {}, false};
  if (std::ranges::any_of(found.entries, runs_on_gpu)) {
    std::ranges::copy_if(found.entries, std::back_inserter(found.cpu_fallbacks), is_cpu_fallback);
  }
  return found;
}

/// Each case once for each part of a step that is asked for.
std::vector<Case> parts_of(const std::vector<const Case*>& cases, const MeasureConfig& measure) {
  const std::set<std::string> dense = mixes_without_lists(cases);
  std::vector<Case> parts;
  for (const Case* c : cases) {
    for (const StepPart step : measure.step) {
      if (chooses_keys(step) && dense.contains(c->mix)) continue;
      parts.push_back(with_step(*c, step));
    }
  }
  return parts;
}

/// Leaves in a case of pipelines those that may run it, where some may.
void leave_out_refusing(const std::vector<std::string>& pipelines, PlannedCase& planned) {
  const auto may_run = [&](const Registry::Entry* entry) { return supports(*entry, planned.c); };
  if (std::ranges::none_of(planned.backends, may_run)) return;
  std::erase_if(planned.backends, [&](const Registry::Entry* entry) {
    const std::string_view name = registered_name(entry->info.name);
    return std::ranges::find(pipelines, name) != pipelines.end() && !may_run(entry);
  });
}

/// Whether it runs a case for which nobody has named it.
bool takes_part(const BackendInfo& info, const Case& c) {
  const std::vector<Family>& families = info.only_families;
  return is_for_step(info, c.step) &&
         (families.empty() || std::ranges::find(families, c.layer.family) != families.end());
}

}  // namespace

bool any_case_matches(const Scenario& scenario, const std::string& pattern) {
  return std::ranges::any_of(scenario.cases, [&](const Case& c) { return chooses(pattern, c); });
}

std::vector<const Case*> select_cases(const Scenario& scenario, const RunFilter& filter) {
  std::vector<bool> chosen(scenario.cases.size(), filter.cases.empty());
  for (const std::string& pattern : filter.cases) {
    bool any = false;
    for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
      if (chooses(pattern, scenario.cases[i])) chosen[i] = any = true;
    }
    if (!any) nothing_matched(scenario, pattern);
  }
  std::vector<const Case*> cases;
  for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
    if (chosen[i]) cases.push_back(&scenario.cases[i]);
  }
  return cases;
}

std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                    const Registry& registry,
                                                    const RunFilter& filter) {
  Candidates found = candidates_of(scenario, registry, filter);
  if (found.cpu_fallbacks.empty()) return std::move(found.entries);
  const std::vector<Case> parts = parts_of(select_cases(scenario, filter), scenario.measure);
  if (std::ranges::all_of(parts, [&](const Case& c) { return gpu_supports(c, found.entries); })) {
    std::erase_if(found.entries, is_cpu_fallback);
  }
  return std::move(found.entries);
}

RunPlan plan_run(const Scenario& scenario, const Registry& registry, const RunFilter& filter) {
  Candidates found = candidates_of(scenario, registry, filter);
  const auto is_of_pipelines = [](StepPart step) { return is_pipeline(step); };
  if (!filter.pipelines.empty() && std::ranges::all_of(scenario.measure.step, is_of_pipelines)) {
    std::erase_if(found.entries, [](const auto* entry) { return !entry->info.runs_pipeline; });
    found.cpu_fallbacks.clear();
  }
  for (const Registry::Entry* entry : named(filter.pipelines, registry)) {
    if (std::ranges::find(found.entries, entry) == found.entries.end()) {
      found.entries.push_back(entry);
    }
  }
  const std::vector<const Case*> cases = select_cases(scenario, filter);
  for (const Case* c : cases) {
    if (c->kv_cache.pool_tokens > 0) static_cast<void>(pool_demand(*c));  // throws if too small
  }
  RunPlan plan;
  plan.cpu_fallbacks = std::move(found.cpu_fallbacks);
  const bool falls_back = !plan.cpu_fallbacks.empty();
  std::vector<bool> on_gpu;  // one a part of a case
  for (Case& c : parts_of(cases, scenario.measure)) {
    const Cost cost = count_cost(c);  // throws when it exceeds 63 bits
    on_gpu.push_back(falls_back && gpu_supports(c, found.entries));
    plan.cases.push_back({std::move(c), cost, {}});
  }
  plan.backends = std::move(found.entries);
  if (falls_back && std::ranges::all_of(on_gpu, std::identity())) {
    std::erase_if(plan.backends, is_cpu_fallback);
  }
  plan.entries = scenario.measure.aa ? plan.pairs.of(plan.backends) : plan.backends;
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    plan.cases[i].backends = plan.entries;
    const StepPart step = plan.cases[i].c.step;
    std::erase_if(plan.cases[i].backends, [&](const Registry::Entry* entry) {
      if (entry->info.runs_pipeline) return !is_for_step(entry->info, step);
      return is_of_pipelines(step) ||
             (!found.are_named && !takes_part(entry->info, plan.cases[i].c));
    });
    if (is_of_pipelines(step)) leave_out_refusing(filter.pipelines, plan.cases[i]);
    if (on_gpu[i]) std::erase_if(plan.cases[i].backends, is_cpu_fallback);
  }
  return plan;
}

}  // namespace attnbench
