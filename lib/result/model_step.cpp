// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/model_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "lib/model/layer_kind.h"
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
  std::vector<const Record*> choosers;  ///< of kIndexer and kSelect

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
    if (std::ranges::find(kChoosers, r.step) == std::end(kChoosers)) continue;
    if (r.model_layers.kind.empty() || registered_name(r.backend) != r.backend) continue;
    const auto at =
        std::ranges::find_if(steps, [&](const StepRecords& step) { return step.takes(r); });
    if (at != steps.end()) at->choosers.push_back(&r);
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

std::string record_kind(const Record& r) { return r.model_layers.kind; }
std::string record_backend(const Record& r) { return r.backend; }
std::string record_device(const Record& r) { return r.device; }

bool counts_in_step(const Record& r) {
  return r.claims_speed() && r.verdict() != Verdict::kMistrusted;
}

/// Its time is that of attention and of the choice of its keys.
bool is_pipeline(const Record& r) { return r.step == StepPart::kPipeline; }

/// The cells of one kind of layer in one backend, by the part of the step.
struct KindCells {
  const Record* attention = nullptr;  ///< or a pipeline
  const Record* kv_write = nullptr;
  const Record* both = nullptr;

  [[nodiscard]] const Record* first() const {
    return attention != nullptr ? attention : both != nullptr ? both : kv_write;
  }
  [[nodiscard]] bool has_write() const {
    return (both != nullptr && counts_in_step(*both)) ||
           (attention != nullptr && counts_in_step(*attention) && kv_write != nullptr &&
            counts_in_step(*kv_write));
  }
  [[nodiscard]] bool has_attention() const {
    return attention != nullptr && counts_in_step(*attention);
  }
  /// Cross layers where no request has an encoder: an engine skips them (skip_cross_attention in
  /// SGLang's models/mllama.py), and weights of no keys cannot be checked.
  [[nodiscard]] bool is_skipped() const {
    return first() != nullptr && record_kind(*first()) == to_string(LayerKind::kCross) &&
           first()->kv_tokens == 0;
  }
};

KindCells cells_of(const std::vector<const Record*>& records, const std::string& backend,
                   const std::string& kind) {
  KindCells cells;
  for (const Record* r : records) {
    if (r->backend != backend || record_kind(*r) != kind) continue;
    if (r->step == StepPart::kAttention || is_pipeline(*r)) cells.attention = r;
    if (r->step == StepPart::kKvWrite) cells.kv_write = r;
    if (r->step == StepPart::kBoth) cells.both = r;
  }
  return cells;
}

void add_layer_time(ModelStepPart& part, const Record& r) {
  part.layer_us += r.timing.median_us;
  part.layer_lo_us += r.timing.lo_us;
  part.layer_hi_us += r.timing.hi_us;
  part.has_interval = part.has_interval && has_interval(r);
}

ModelStepPart part_of(const KindCells& cells, bool with_write) {
  ModelStepPart part;
  part.has_interval = true;
  part.with_kv_write = with_write;
  const bool measured_together = with_write && cells.both != nullptr && counts_in_step(*cells.both);
  const Record& main = measured_together ? *cells.both : *cells.attention;
  part.kind = record_kind(main);
  part.backend = main.backend;
  if (is_pipeline(main)) part.step = main.step;
  part.layers = main.model_layers.layers;
  part.host_us = main.update.median_us > 0 ? main.update.median_us : main.plan.median_us;
  add_layer_time(part, main);
  if (with_write && !measured_together) add_layer_time(part, *cells.kv_write);
  return part;
}

ModelStepPart skipped_part(const Record& r) {
  ModelStepPart part;
  part.kind = record_kind(r);
  part.backend = r.backend;
  part.layers = r.model_layers.layers;
  part.has_interval = true;
  part.is_skipped = true;
  return part;
}

/// With the write of layers of which some write nothing: a part of those that do, and of the rest.
std::vector<ModelStepPart> parts_of(const KindCells& cells, bool with_write) {
  if (cells.is_skipped()) return {skipped_part(*cells.first())};
  ModelStepPart part = part_of(cells, with_write);
  if (!with_write || !cells.has_attention()) return {part};
  const Record& write =
      cells.both != nullptr && counts_in_step(*cells.both) ? *cells.both : *cells.kv_write;
  part.layers = write.model_layers.layers;
  ModelStepPart readers = part_of(cells, false);
  readers.layers -= part.layers;
  readers.host_us = 0;  // one plan serves the layers of a kind
  return readers.layers > 0 ? std::vector{part, readers} : std::vector{part};
}

double us_of(const std::vector<ModelStepPart>& parts) {
  double sum = 0;
  for (const ModelStepPart& part : parts) sum += part.us();
  return sum;
}

/// Of those that choose keys of such layers on the device; null where none counts.
const Record* fastest_chooser(const StepRecords& step, const std::string& device,
                              const std::string& kind, StepPart chooser) {
  const Record* fastest = nullptr;
  for (const Record* r : step.choosers) {
    if (r->step != chooser || r->device != device || record_kind(*r) != kind) continue;
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
      return part.kind == kind && part.step == StepPart::kPipeline;
    });
    if (is_chosen) continue;
    for (const StepPart chooser : kChoosers) {
      const Record* const fastest = fastest_chooser(step, sum.device, kind, chooser);
      if (fastest == nullptr) {
        sum.lacks_choice = true;
        continue;
      }
      sum.parts.push_back(part_of({.attention = fastest}, false));
      sum.parts.back().step = chooser;
    }
  }
}

/// Why a kind of layer has no time in a backend.
std::string lack_of(const KindCells& cells, const std::string& kind) {
  const Record* const r = cells.first();
  if (r == nullptr) return fmt::format("{}: it was not run", kind);
  if (!attends(r->step)) return fmt::format("{}: attention was not measured", kind);
  const std::string reason = r->reason().empty() ? "" : ": " + r->reason();
  return fmt::format("{}: {}{}", kind, verdict_word(*r), reason);
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

/// A kind without keys never has a write, and lacks none; nor does one that is skipped, or whose
/// layers, of an encoder that is cached, all only read.
bool writes_nothing(const KindCells& cells) {
  const auto is_of_readers = [](const Record* r) {
    return r != nullptr && r->model_layers.layers == 0;
  };
  return (cells.first() != nullptr && cells.first()->is_recurrent()) || cells.is_skipped() ||
         is_of_readers(cells.kv_write) || is_of_readers(cells.both);
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
  add_choice_of_keys(step, result);
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
  // Attention without the choice of keys is faster than any pipeline.
  const auto of_pipelines = [&](const std::string& backend) {
    return std::ranges::any_of(
        records, [&](const Record* r) { return r->backend == backend && is_pipeline(*r); });
  };
  if (!std::ranges::all_of(backends, of_pipelines)) std::erase_if(backends, of_pipelines);
  if (backends.size() < 2 || !missing_kinds(step, kinds).empty()) return std::nullopt;
  for (const bool with_write : {true, false}) {
    ModelStep best = blank_step(step, records.front()->device);
    std::size_t found = 0;
    for (const std::string& kind : kinds) {
      std::vector<ModelStepPart> fastest;
      for (const std::string& backend : backends) {
        const KindCells cells = cells_of(records, backend, kind);
        const bool write = with_write && !writes_nothing(cells);
        const bool has_time = write ? cells.has_write() : cells.has_attention();
        if (!has_time && !cells.is_skipped()) continue;
        const std::vector<ModelStepPart> parts = parts_of(cells, write);
        if (fastest.empty() || us_of(parts) < us_of(fastest)) fastest = parts;
      }
      if (!fastest.empty()) ++found;
      best.parts.insert(best.parts.end(), fastest.begin(), fastest.end());
    }
    if (found != kinds.size()) continue;
    add_choice_of_keys(step, best);
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
