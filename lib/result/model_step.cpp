// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/model_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "lib/result/kind_cells.h"
#include "lib/result/record_text.h"
#include "lib/scenario/layer_reader.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

/// What chooses the keys of a layer, in this order.
constexpr StepPart kChoosers[] = {StepPart::kIndexer, StepPart::kSelect};

/// The records of one step under one condition, on all devices.
struct StepRecords {
  std::string scenario, step;
  CacheState cache;
  LaunchMode launch;
  std::vector<const Record*> records;
  std::vector<const Record*> beside;  ///< of kIndexer, kSelect and kCompress

  [[nodiscard]] bool takes(const Record& r) const {
    return std::tie(r.scenario, r.cache, r.launch) == std::tie(scenario, cache, launch) &&
           step_id_of(r.case_id, r.model_layers.kind) == step;
  }
  [[nodiscard]] const Record& any() const { return *records.front(); }
};

std::vector<StepRecords> steps_of(const RunResult& run) {
  std::vector<StepRecords> steps;
  for (const Record& r : run.records) {
    if (r.model_layers.kind.empty()) continue;
    if (registered_name(r.backend) != r.backend) continue;  // the second of an A/A pair
    if (!attends(r.step) && builds(r.step)) continue;       // beside the layers' attention
    auto at = std::ranges::find_if(steps, [&](const StepRecords& step) { return step.takes(r); });
    if (at == steps.end()) {
      at = steps.insert(
          at, {r.scenario, step_id_of(r.case_id, r.model_layers.kind), r.cache, r.launch, {}});
    }
    at->records.push_back(&r);
  }
  for (const Record& r : run.records) {
    const bool chooses = std::ranges::find(kChoosers, r.step) != std::end(kChoosers);
    if (!chooses && r.step != StepPart::kCompress) continue;
    if (r.model_layers.kind.empty() || registered_name(r.backend) != r.backend) continue;
    const auto at =
        std::ranges::find_if(steps, [&](const StepRecords& step) { return step.takes(r); });
    if (at != steps.end()) at->beside.push_back(&r);
  }
  return steps;
}

template <class Member>
std::vector<Member> distinct(const std::vector<const Record*>& records,
                             Member (*member)(const Record&)) {
  std::vector<Member> values;
  for (const Record* r : records) {
    Member value = member(*r);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

std::string record_backend(const Record& r) { return r.backend; }
std::string record_device(const Record& r) { return r.device; }

double us_of(const std::vector<ModelStepPart>& parts) {
  double sum = 0;
  for (const ModelStepPart& part : parts) sum += part.us();
  return sum;
}

/// The fastest of those that do such a part of such layers on the device; null where none counts.
const Record* fastest_beside(const StepRecords& step, const std::string& device,
                             const std::string& kind, StepPart part) {
  const Record* fastest = nullptr;
  for (const Record* r : step.beside) {
    if (r->step != part || r->device != device || record_kind(*r) != kind) continue;
    if (!counts_in_step(*r)) continue;
    if (fastest == nullptr || r->timing.median_us < fastest->timing.median_us) fastest = r;
  }
  return fastest;
}

/// Appends what chooses the keys of each kind of layer with chosen keys.
void add_choice_of_keys(const StepRecords& step, ModelStep& sum) {
  if (!sum.exists()) return;
  std::vector<const Record*> sparse = step.records;
  std::erase_if(sparse, [](const Record* r) { return !r->layer.selection.exists(); });
  for (const std::string& kind : distinct(sparse, record_kind)) {
    const bool is_chosen = std::ranges::any_of(sum.parts, [&](const ModelStepPart& part) {
      return part.kind == kind && is_pipeline(part.step);
    });
    if (is_chosen) continue;
    for (const StepPart chooser : kChoosers) {
      const Record* const fastest = fastest_beside(step, sum.device, kind, chooser);
      if (fastest == nullptr) {
        sum.lacks_choice = true;
        continue;
      }
      sum.parts.push_back(part_of({.attention = fastest}, false));
      sum.parts.back().step = chooser;
    }
  }
}

/// Appends what makes the compressed rows of each kind of layer, where it was measured.
void add_compressors(const StepRecords& step, ModelStep& sum) {
  if (!sum.exists()) return;
  for (const std::string& kind : distinct(step.records, record_kind)) {
    const Record* const fastest = fastest_beside(step, sum.device, kind, StepPart::kCompress);
    if (fastest == nullptr) continue;
    sum.parts.push_back(part_of({.attention = fastest}, false));
    sum.parts.back().step = StepPart::kCompress;
  }
}

void add_what_stands_beside(const StepRecords& step, ModelStep& sum) {
  add_choice_of_keys(step, sum);
  add_compressors(step, sum);
}

/// Which layers of the step no record is of: in one part of a sweep that several machines share.
std::string missing_kinds(const StepRecords& step, const std::vector<std::string>& kinds) {
  // Where keys are written and nothing attends, cells stand for the layers that write, not for all.
  const auto writes_alone = [](const Record* r) { return !attends(r->step); };
  if (std::ranges::all_of(step.records, writes_alone)) return "";
  int present = 0;
  for (const std::string& kind : kinds) {
    int most = 0;  // cells that write keys stand for the layers that do
    for (const Record* r : step.records) {
      if (record_kind(*r) == kind) most = std::max(most, r->model_layers.layers);
    }
    present += most;
  }
  const int all = step.any().model_layers.of_step;
  if (present == all) return "";
  return fmt::format("the results have {} of its {} layers", present, all);
}

ModelStep blank_step(const StepRecords& step, const std::string& device) {
  ModelStep result;
  result.scenario = step.scenario;
  result.step = step.step;
  result.model = step.any().model;
  result.device = device;
  result.cache = step.cache;
  result.launch = step.launch;
  result.left_out = step.any().model_layers.left_out;
  return result;
}

ModelStep step_in_backend(const StepRecords& step, const std::vector<const Record*>& records,
                          const std::string& backend, const std::vector<std::string>& kinds) {
  ModelStep result = blank_step(step, records.front()->device);
  result.backend = backend;
  std::vector<KindCells> cells;
  for (const std::string& kind : kinds) cells.push_back(cells_of(records, backend, kind));
  const bool with_write = std::ranges::all_of(
      cells, [](const KindCells& each) { return writes_nothing(each) || each.has_write(); });
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool write = with_write && !writes_nothing(cells[i]);
    if (write || cells[i].has_attention() || cells[i].is_skipped()) {
      for (ModelStepPart& part : parts_of(cells[i], write)) {
        result.parts.push_back(std::move(part));
      }
    } else if (result.reason.empty()) {
      result.reason = lack_of(cells[i], kinds[i]);
    }
  }
  if (const std::string missing = missing_kinds(step, kinds); !missing.empty()) {
    result.reason = missing;
  }
  if (!result.reason.empty()) result.parts.clear();
  add_what_stands_beside(step, result);
  return result;
}

/// Whether the backend was more than asked.
bool was_tried(const std::vector<const Record*>& records, const std::string& backend) {
  return std::ranges::any_of(
      records, [&](const Record* r) { return r->backend == backend && !was_not_run(*r); });
}

/// Of each kind the backend with the least time, all with the write or all without it; none where
/// a kind has no time on the device.
std::optional<ModelStep> best_of_kinds(const StepRecords& step,
                                       const std::vector<const Record*>& records,
                                       const std::vector<std::string>& kinds) {
  std::vector<std::string> backends = distinct(records, record_backend);
  std::erase_if(backends, [&](const std::string& each) { return !was_tried(records, each); });
  if (backends.size() < 2 || !missing_kinds(step, kinds).empty()) return std::nullopt;
  for (const bool with_write : {true, false}) {
    ModelStep best = blank_step(step, records.front()->device);
    std::size_t found = 0;
    for (const std::string& kind : kinds) {
      std::vector<ModelStepPart> fastest;
      bool chooses = false;  // its own keys: attention without that is faster than any pipeline
      for (const std::string& backend : backends) {
        const KindCells cells = cells_of(records, backend, kind);
        const bool write = with_write && !writes_nothing(cells);
        const bool has_time = write ? cells.has_write() : cells.has_attention();
        if (!has_time && !cells.is_skipped()) continue;
        const std::vector<ModelStepPart> parts = parts_of(cells, write);
        const bool is_whole = is_pipeline(parts.front().step);
        if (chooses && !is_whole) continue;
        const bool is_first_whole = is_whole && !chooses;
        if (is_first_whole || fastest.empty() || us_of(parts) < us_of(fastest)) fastest = parts;
        chooses = is_whole;
      }
      if (!fastest.empty()) ++found;
      best.parts.insert(best.parts.end(), fastest.begin(), fastest.end());
    }
    if (found != kinds.size()) continue;
    add_what_stands_beside(step, best);
    return best;
  }
  return std::nullopt;
}

}  // namespace

double ModelStep::us() const { return us_of(parts); }

double ModelStep::lo_us() const {
  double sum = 0;
  for (const ModelStepPart& part : parts) sum += part.host_us + part.layers * part.layer_lo_us;
  return sum;
}

double ModelStep::hi_us() const {
  double sum = 0;
  for (const ModelStepPart& part : parts) sum += part.host_us + part.layers * part.layer_hi_us;
  return sum;
}

bool ModelStep::has_interval() const {
  return exists() && std::ranges::all_of(parts, &ModelStepPart::has_interval);
}

bool ModelStep::with_kv_write() const {
  return std::ranges::any_of(parts, &ModelStepPart::with_kv_write);
}

std::vector<ModelStep> model_steps(const RunResult& run) {
  std::vector<ModelStep> steps;
  for (const StepRecords& step : steps_of(run)) {
    const std::vector<std::string> kinds = distinct(step.records, record_kind);
    for (const std::string& device : distinct(step.records, record_device)) {
      std::vector<const Record*> on_device = step.records;
      std::erase_if(on_device, [&](const Record* r) { return r->device != device; });
      for (const std::string& backend : distinct(on_device, record_backend)) {
        if (!was_tried(on_device, backend)) continue;
        steps.push_back(step_in_backend(step, on_device, backend, kinds));
      }
      if (auto best = best_of_kinds(step, on_device, kinds)) steps.push_back(std::move(*best));
    }
  }
  return steps;
}

Json model_steps_json(const RunResult& run) {
  Json list = Json::array();
  for (const ModelStep& step : model_steps(run)) {
    Json parts = Json::array();
    for (const ModelStepPart& part : step.parts) {
      parts.push_back({{"kind", part.kind},
                       {"step", to_string(part.step)},
                       {"backend", part.backend},
                       {"layers", part.layers},
                       {"host_us", part.host_us},
                       {"layer_us", part.layer_us}});
    }
    const auto if_any = [](bool exists, double value) {
      return exists ? Json(value) : Json(nullptr);
    };
    list.push_back({{"scenario", step.scenario},
                    {"step", step.step},
                    {"model", step.model},
                    {"device", step.device},
                    {"backend", step.backend.empty() ? Json(nullptr) : Json(step.backend)},
                    {"cache", to_string(step.cache)},
                    {"launch", to_string(step.launch)},
                    {"model_step_us", if_any(step.exists(), step.us())},
                    {"lo_us", if_any(step.has_interval(), step.lo_us())},
                    {"hi_us", if_any(step.has_interval(), step.hi_us())},
                    {"lacks_choice", step.lacks_choice},
                    {"with_kv_write", step.exists() ? Json(step.with_kv_write()) : Json(nullptr)},
                    {"left_out", step.left_out},
                    {"reason", step.reason},
                    {"parts", std::move(parts)}});
  }
  return list;
}

}  // namespace attnbench
