// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/engine_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/shell_text.h"
#include "lib/engines/engine_backends.h"
#include "lib/engines/engine_kernels.h"
#include "lib/result/record_text.h"
#include "lib/summary/engine_line.h"
#include "lib/view/json.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// The cells of one case that are compared with each other.
struct Contest {
  std::vector<Record> records;
  std::vector<Ranking> rankings;

  /// Null where none of the backends is correct and timed.
  [[nodiscard]] const Record* fastest() const {
    const auto best = std::ranges::find_if(
        rankings, [](const Ranking& each) { return each.exists() && each.ratio <= 1; });
    return best == rankings.end() ? nullptr : &records[std::size_t(best - rankings.begin())];
  }
};

void expect_cells_of(const EngineSelection& selection) {
  std::set<std::string> known;
  for (const Record& r : selection.measured->records) {
    if (r.model == selection.model && r.tp == selection.tp) return;
    known.insert(fmt::format("{} at tp {}", r.model, r.tp));
  }
  throw ConfigError(fmt::format("the results have no cell of {} at tp {}   they are of: {}",
                                selection.model, selection.tp, fmt::join(known, ", ")));
}

/// In the order of the file. The KV write is nothing that engines choose a backend for.
std::vector<Contest> contests_of(const EngineSelection& selection) {
  std::vector<Contest> contests;
  if (!selection.measured) return contests;
  expect_cells_of(selection);
  std::map<ComparisonKey, std::size_t> places;
  for (const Record& r : selection.measured->records) {
    // A pipeline is of three backends.
    if (r.model != selection.model || r.tp != selection.tp) continue;
    if (!attends(r.step) || builds(r.step)) continue;
    const auto [place, is_new] = places.try_emplace(ComparisonKey(r), contests.size());
    if (is_new) contests.emplace_back();
    contests[place->second].records.push_back(r);
  }
  for (Contest& contest : contests) contest.rankings = rankings(contest.records);
  return contests;
}

std::string cost_in(const Contest& contest, Engine engine, const EngineSelection& selection) {
  return cost_of_choice(engine, choose_backend(engine, selection.setup).backend, contest.records,
                        contest.rankings, selection.setup.device.capability);
}

std::string downgrade_in(const Contest& contest, Engine engine, const EngineSelection& selection) {
  // A graph that was lost is in another contest: that of cells which were launched as one.
  std::vector<Record> launched = contest.records;
  const Record& first = contest.records.front();
  for (const Record& r : selection.measured->records) {
    if (r.scenario == first.scenario && r.case_id == first.case_id && r.cache == first.cache &&
        r.step == first.step && r.launch != first.launch) {
      launched.push_back(r);
    }
  }
  return downgrade_of(engine, choose_backend(engine, selection.setup).backend, launched,
                      rankings(launched), selection.setup.device.capability);
}

std::string contest_name(const EngineSelection& selection, const Record& r) {
  return fmt::format("{} {} {}", case_name(*selection.measured, r), to_string(r.cache),
                     to_string(r.launch));
}

/// Backends out of packs that launch what the engines would, for decodes and for prompts.
std::vector<std::string_view> kernels_to_time(const EngineSelection& selection) {
  const EngineSetup& setup = selection.setup;
  constexpr int kUsualGroup = 4;  // query heads of a KV head, where no case says how many
  std::vector<std::string_view> kernels;
  // What it chooses is for the full layers; no pack has the kernels of the sparse ones.
  if (setup.sparse == SparseAttention::kMsa) return kernels;
  for (const Engine engine : kEngines) {
    for (const bool decodes : {true, false}) {
      const KernelUse use{
          .capability = setup.device.capability,
          .decodes = decodes,
          .group_size = kUsualGroup,
          .fp8_cache = setup.kv_dtype == DType::kE4M3 || setup.kv_dtype == DType::kE5M2,
          .head_dim = setup.head_dim_qk};
      const auto found = kernels_of(engine, choose_backend(engine, setup).backend, use);
      if (!found.empty() && std::ranges::find(kernels, found.front()) == kernels.end()) {
        kernels.push_back(found.front());
      }
    }
  }
  return kernels;
}

/// The command that times them; empty where attnbench has none of them.
std::string timing_line(const EngineSelection& selection) {
  const std::vector<std::string_view> kernels = kernels_to_time(selection);
  if (kernels.empty()) return {};
  return fmt::format("attnbench run {} --plugin packs --backend {}",
                     shell_quoted(selection.scenario), fmt::join(kernels, ","));
}

Json choice_json(const EngineChoice& choice) {
  return {{"backend", choice.backend.empty() ? Json(nullptr) : Json(choice.backend)},
          {"reason", choice.reason},
          {"flags", choice.flags},
          {"caveat", choice.caveat}};
}

/// The backends of the model's family of layers, each with why it does not take the setup, and why
/// the engine's choice passes over it.
Json backends_json(Engine engine, const EngineSetup& setup) {
  Json rows = Json::array();
  for (const EngineBackend* backend : engine_backends(engine, setup)) {
    if (backend->layers != layers_of(setup)) continue;
    rows.push_back({{"backend", backend->name},
                    {"reason", refusal_of(*backend, setup)},
                    {"unknown", unknown_of(*backend, setup)},
                    {"passed_over", validation_refusal(*backend, setup)}});
  }
  return rows;
}

/// What the engine takes beside its choice for attention.
void write_linear(Engine engine, const EngineSetup& setup, std::ostream& out) {
  if (!setup.linear) return;
  const EngineChoice choice = choose_linear_backend(engine, setup);
  out << fmt::format("  beside {} ({}: {})\n", choice.backend.empty() ? "–" : choice.backend,
                     to_string(*setup.linear), choice.reason);
  if (!choice.flags.empty()) out << fmt::format("         {}\n", choice.flags);
  if (!choice.caveat.empty()) out << fmt::format("  but    {}\n", choice.caveat);
}

void write_measured(const EngineSelection& selection, std::ostream& out) {
  const std::vector<Contest> contests = contests_of(selection);
  if (!selection.measured) return;
  const DeviceInfo& device = selection.measured->environment.device;
  out << fmt::format("\nmeasured on {} {}\n", printable(device.name), printable(device.arch));
  for (const Contest& contest : contests) {
    const Record* fastest = contest.fastest();
    out << fmt::format("  {}\n", printable(contest_name(selection, contest.records.front())));
    if (fastest == nullptr) {
      out << "    no backend was right and timed\n";
      continue;
    }
    out << fmt::format("    fastest correct: {}, {}\n", printable(fastest->backend),
                       time_text(fastest->timing.median_us));
    for (const Engine engine : kEngines) {
      const std::string cost = cost_in(contest, engine, selection);
      const std::string lost = downgrade_in(contest, engine, selection);
      out << fmt::format("    {}'s choice: {}{}\n", to_string(engine),
                         cost.empty() ? "its kernel was not timed" : cost,
                         lost.empty() ? "" : "; " + lost);
    }
  }
}

}  // namespace

void write_selection_table(const EngineSelection& selection, std::ostream& out) {
  const EngineSetup& setup = selection.setup;
  out << fmt::format("{} · tp {} · {} · supposing CUDA {}.{} and flashinfer installed\n",
                     printable(selection.model), selection.tp, setup.device.name,
                     setup.cuda_version / 100, setup.cuda_version % 100);
  for (const Engine engine : kEngines) {
    const EngineChoice choice = choose_backend(engine, setup);
    out << fmt::format("\n{} {}  {}\n  why    {}\n", to_string(engine), setup.version_of(engine),
                       choice.backend.empty() ? "–" : choice.backend, choice.reason);
    if (!choice.flags.empty()) out << fmt::format("  flags  {}\n", choice.flags);
    if (!choice.caveat.empty()) out << fmt::format("  but    {}\n", choice.caveat);
    write_linear(engine, setup, out);
  }
  write_measured(selection, out);
  if (const std::string line = timing_line(selection); !line.empty()) {
    out << fmt::format("\nto time the kernels that they launch: {}\n", printable(line));
  }
}

void write_selection_json(const EngineSelection& selection, std::ostream& out) {
  Json engines = Json::array();
  for (const Engine engine : kEngines) {
    Json row = choice_json(choose_backend(engine, selection.setup));
    row["engine"] = to_string(engine);
    row["version"] = selection.setup.version_of(engine);
    row["backends"] = backends_json(engine, selection.setup);
    row["linear"] = selection.setup.linear
                        ? choice_json(choose_linear_backend(engine, selection.setup))
                        : Json(nullptr);
    engines.push_back(std::move(row));
  }
  Json root = {{"model", selection.model},
               {"tp", selection.tp},
               {"arch", selection.setup.device.name},
               {"engines", engines},
               {"to_time", timing_line(selection)}};
  if (selection.measured) root["measured"] = Json::array();
  for (const Contest& contest : contests_of(selection)) {
    const Record& first = contest.records.front();
    const Record* fastest = contest.fastest();
    Json row = {
        {"scenario", first.scenario},
        {"case", first.case_id},
        {"cache", to_string(first.cache)},
        {"launch", to_string(first.launch)},
        {"fastest", fastest == nullptr ? Json(nullptr) : Json(fastest->backend)},
        {"median_us", fastest == nullptr ? Json(nullptr) : Json(fastest->timing.median_us)}};
    for (const Engine engine : kEngines) {
      const char* const name = engine == Engine::kSglang ? "sglang" : "vllm";
      row[fmt::format("cost_of_{}", name)] = cost_in(contest, engine, selection);
      row[fmt::format("downgrade_of_{}", name)] = downgrade_in(contest, engine, selection);
    }
    root["measured"].push_back(std::move(row));
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
