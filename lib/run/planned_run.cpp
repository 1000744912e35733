// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/planned_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "lib/backend/pipeline/pipeline_backend.h"
#include "lib/base/error.h"
#include "lib/session/hybrid_entry.h"
#include "lib/session/pipeline_entry.h"

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

Shard Shard::parse(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec == std::errc{} && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc{} && count.ptr == end && shard.index >= 1 &&
        shard.index <= shard.count) {
      return shard;
    }
  }
  throw ConfigError(fmt::format("'{}' is not a part and how many there are: 1/4 to 4/4", text));
}

void keep_shard(const Shard& shard, std::vector<PlannedRun>& runs) {
  std::size_t place = 0;
  for (PlannedRun& run : runs) {
    std::vector<std::string> kept;
    for (const Case* c : select_cases(run.scenario, run.filter)) {
      if (shard.holds(place++)) kept.push_back(c->id);
    }
    run.filter.cases = std::move(kept);
  }
  std::erase_if(runs, [](const PlannedRun& run) { return run.filter.cases.empty(); });
  if (!runs.empty()) return;
  throw ConfigError(fmt::format("--shard {}/{}: there is no case for this part of {}", shard.index,
                                shard.count, place == 1 ? "one" : std::to_string(place)));
}

void pair_backends(PlannedRun& run) {
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

namespace {

using Entries = std::vector<const Registry::Entry*>;

/// Those on such a device that can be this stage.
Entries for_stage(const Entries& among, StepPart stage, DeviceKind device) {
  Entries found;
  for (const Registry::Entry* entry : among) {
    if (entry->make && entry->info.device == device && is_for_stage(entry->info, stage)) {
      found.push_back(entry);
    }
  }
  return found;
}

/// The names of all pipelines of these on one device; of a stage without any, of `others`. Keys and
/// values are written by the attention backend, if it can.
std::vector<std::string> pipeline_names(const Entries& entries, const Entries& others,
                                        DeviceKind device, StepPart step) {
  std::vector<std::string> names{""};
  for (const StepPart stage : stages_of(step)) {
    if (stage == StepPart::kKvWrite) continue;
    Entries of_stage = for_stage(entries, stage, device);
    if (of_stage.empty()) of_stage = for_stage(others, stage, device);
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const Registry::Entry* entry : of_stage) {
        if (attends(stage) && writes_kv(step) && !entry->info.writes_kv) continue;
        const bool writes = attends(stage) && writes_kv(step);
        longer.push_back((writes ? entry->info.name + "+" : "") + name + (name.empty() ? "" : "+") +
                         entry->info.name);
      }
    }
    names = std::move(longer);
  }
  return names;
}

/// Adds the pipelines of steps of one kind.
void add_pipelines(PlannedRun& run, StepPart step) {
  Entries present, chosen = choose_backends(run.scenario, run.registry, run.filter);
  const bool are_named = !run.filter.backends.empty() || !run.scenario.backends.empty();
  for (const Registry::Entry& entry : run.registry.entries()) {
    if (entry.make && entry.info.by_default) present.push_back(&entry);
  }
  const bool serve_some_step = std::ranges::any_of(chosen, [&](const Registry::Entry* entry) {
    const auto is_for = [&](StepPart each) { return is_for_step(entry->info, each); };
    return entry->info.runs_pipeline && std::ranges::any_of(run.scenario.measure.step, is_for);
  });
  std::erase_if(chosen, [&](const Registry::Entry* entry) {
    return entry->info.runs_pipeline && !is_for_step(entry->info, step);
  });
  const auto is_whole = [](const Registry::Entry* entry) { return entry->info.runs_pipeline; };
  if (are_named && serve_some_step && std::ranges::all_of(chosen, is_whole)) return;
  const bool has_whole = std::ranges::any_of(chosen, is_whole);
  const std::size_t before = run.filter.pipelines.size();
  std::vector<std::string> names;
  for (const DeviceKind device : {DeviceKind::kCuda, DeviceKind::kCpu}) {
    const bool takes_part = !are_named || std::ranges::any_of(chosen, [&](const auto* entry) {
      return entry->info.device == device && !is_whole(entry);
    });
    if (!takes_part || (!are_named && !names.empty())) continue;
    for (std::string& name : pipeline_names(chosen, are_named ? present : chosen, device, step)) {
      names.push_back(std::move(name));
    }
    // The processor does not step in for a GPU that lacks a writer of index keys only.
    const bool lacks_writer = names.empty() && writes_index(step);
    if (lacks_writer && !pipeline_names(chosen, {}, device, StepPart::kKvPipeline).empty()) break;
  }
  for (std::string& name : names) {
    try {
      add_pipeline(run.registry, name);
      run.filter.pipelines.push_back(std::move(name));
    } catch (const ConfigError&) {  // of two plug-in files, or of two environments
    }
  }
  if (run.filter.pipelines.size() > before || has_whole) return;
  const auto absent = std::ranges::find_if(chosen, [](const auto* entry) { return !entry->make; });
  throw ConfigError(fmt::format(
      "step {}: the backends{} are no {}indexer, selector and attention of one device that reads "
      "the "
      "lists when it runs{}{}   --backend {}{}INDEXER+SELECTOR+ATTENTION names a pipeline{}",
      to_string(step), absent == chosen.end() ? "" : " that are present",
      writes_index(step) ? "writer of index keys, " : "",
      writes_kv(step) ? ", and writes keys" : "",
      absent == chosen.end()
          ? ""
          : fmt::format("; {} is absent: {}", (*absent)->info.name, (*absent)->absence),
      writes_kv(step) ? "WRITER+" : "", writes_index(step) ? "INDEX_WRITER+" : "",
      writes_index(step) ? "; step kv_pipeline needs no writer of index keys" : ""));
}

}  // namespace

void add_pipelines(PlannedRun& run) {
  for (const StepPart step : run.scenario.measure.step) {
    if (is_pipeline(step)) add_pipelines(run, step);
  }
}

std::vector<std::string> notes_on_steps(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> notes;
  for (const PlannedRun& run : runs) {
    for (const std::string& mix : mixes_without_lists(select_cases(run.scenario, run.filter))) {
      std::vector<std::string_view> steps;
      for (const StepPart step : run.scenario.measure.step) {
        if (chooses_keys(step)) steps.push_back(to_string(step));
      }
      if (steps.empty()) continue;
      notes.push_back(fmt::format("mix '{}' runs without step {}: its layers choose no keys", mix,
                                  fmt::join(steps, ", ")));
    }
  }
  return notes;
}

std::vector<std::string> notes_on_plugins(const std::vector<PlannedRun>& runs) {
  std::set<std::string> loaded, busy;
  std::map<std::string, std::set<std::string>> absent;  // names by reason
  for (const PlannedRun& run : runs) {
    if (!run.filter.backends.empty()) return {};
    const std::vector<const Registry::Entry*>& chosen = run.plan.backends;
    for (const Registry::Entry* entry : chosen) busy.insert(entry->plugin);
    for (const Registry::Entry& entry : run.registry.entries()) {
      if (entry.plugin.empty()) continue;  // this program's own
      if (entry.make) {
        loaded.insert(entry.plugin);
      } else if (entry.info.by_default && std::ranges::find(chosen, &entry) == chosen.end()) {
        // Of others that are absent, rows or their bases say why.
        absent[entry.absence].insert(entry.info.name);
      }
    }
  }
  std::vector<std::string> notes;
  for (const auto& [reason, names] : absent) {
    notes.push_back(fmt::format("{} {} absent: {}", fmt::join(names, ", "),
                                names.size() == 1 ? "is" : "are", reason));
  }
  std::vector<std::string> idle;
  std::ranges::set_difference(loaded, busy, std::back_inserter(idle));
  if (!idle.empty()) {
    notes.push_back(fmt::format(
        "no backend of {} takes part: the scenario's list of backends names others; --backend "
        "NAME,... names those to run",
        fmt::join(idle, ", ")));
  }
  return notes;
}

}  // namespace attnbench
