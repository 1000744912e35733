// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/backend_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "lib/backend/tuning.h"
#include "lib/base/error.h"
#include "lib/base/glob.h"
#include "lib/config/word_hints.h"
#include "lib/session/backend_code.h"
#include "lib/session/case_support.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// A name, or a glob that matches names; the file of a plug-in means all of its backends.
bool means(const std::string& word, const Registry::Entry& entry) {
  return glob_matches(word, entry.info.name) || (!word.empty() && entry.plugin == word);
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
  const std::string prefix = name.substr(0, name.find(':'));
  if (!is_pack(prefix)) return {};
  const bool loaded = std::ranges::any_of(registry.entries(), [&](const Registry::Entry& entry) {
    return entry.info.name.starts_with(prefix + ":");
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

/// A plug-in is named by its file, and so never only stands in; but a pack brings what its package
/// has for a processor along with what it has for a GPU.
bool may_stand_in(const Registry::Entry* entry) {
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
    return bool(of_backend([&] { return choose_format_of(*entry.make(), c); }));
  } catch (const BackendFailed&) {
    return false;  // its row will say so
  }
}

bool gpu_supports(const Case& c, std::span<const Registry::Entry* const> entries) {
  return std::ranges::any_of(entries, [&](const Registry::Entry* entry) {
    return runs_on_gpu(entry) && supports(*entry, c);
  });
}

bool gpu_supports_all(const Scenario& scenario, const RunFilter& filter,
                      std::span<const Registry::Entry* const> entries) {
  for (const Case* c : select_cases(scenario, filter)) {
    for (const StepPart step : scenario.measure.step) {
      if (!gpu_supports(with_step(*c, step), entries)) return false;
    }
  }
  return true;
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

}  // namespace

std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                    const Registry& registry,
                                                    const RunFilter& filter) {
  // The scenario's own names are checked even when the filter overrides them: a mistake in the
  // file does not hide.
  check_names_of_file(scenario, registry);
  for (const std::string& name : filter.backends) {
    if (is_known(registry, name)) continue;
    const UnknownName wrong = unknown(registry, name);
    throw ConfigError({Diagnostic{{}, 1, wrong.message, wrong.hint, {}}});
  }
  if (!filter.backends.empty()) return named(filter.backends, registry);
  if (!scenario.backends.empty()) return named(scenario.backends, registry);
  std::vector<const Registry::Entry*> entries = present_by_default(registry);
  if (std::ranges::any_of(entries, runs_on_gpu) && gpu_supports_all(scenario, filter, entries)) {
    std::erase_if(entries, may_stand_in);
  }
  return entries;
}

std::vector<const Registry::Entry*> host_stands_in(const Scenario& scenario,
                                                   const Registry& registry,
                                                   const RunFilter& filter) {
  if (!filter.backends.empty() || !scenario.backends.empty()) return {};
  std::vector<const Registry::Entry*> entries = present_by_default(registry);
  if (std::ranges::none_of(entries, runs_on_gpu)) return {};
  std::erase_if(entries, [](const Registry::Entry* entry) { return !may_stand_in(entry); });
  return entries;
}

std::vector<const Registry::Entry*> backends_of(const Case& c,
                                                std::span<const Registry::Entry* const> chosen,
                                                bool host_only_stands_in) {
  std::vector<const Registry::Entry*> entries(chosen.begin(), chosen.end());
  if (host_only_stands_in && gpu_supports(c, chosen)) std::erase_if(entries, may_stand_in);
  return entries;
}

}  // namespace attnbench
