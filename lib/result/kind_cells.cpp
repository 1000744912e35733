// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/kind_cells.h"

#include <fmt/format.h>

#include <utility>

#include "lib/result/record_text.h"

namespace attnbench {
namespace {

void add_layer_time(ModelStepPart& part, const Record& r) {
  part.layer_us += r.timing.median_us;
  part.layer_lo_us += r.timing.lo_us;
  part.layer_hi_us += r.timing.hi_us;
  part.has_interval = part.has_interval && has_interval(r);
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

}  // namespace

std::string record_kind(const Record& r) { return r.model_layers.kind; }

bool counts_in_step(const Record& r) {
  return r.claims_speed() && r.verdict() != Verdict::kMistrusted;
}

bool is_pipeline(const Record& r) { return is_pipeline(r.step); }

KindCells cells_of(const std::vector<const Record*>& records, const std::string& backend,
                   const std::string& kind) {
  KindCells cells;
  for (const Record* r : records) {
    if (r->backend != backend || record_kind(*r) != kind) continue;
    if (attends(r->step)) (writes_kv(r->step) ? cells.both : cells.attention) = r;
    if (r->step == StepPart::kKvWrite) cells.kv_write = r;
  }
  const Record* const whole = cells.attention != nullptr ? cells.attention : cells.both;
  if (whole == nullptr || !is_pipeline(*whole)) return cells;
  const std::string attends = backend.substr(backend.rfind('+') + 1);
  if (!whole->layer.selection.exists()) return cells_of(records, attends, kind);
  const StepPart of_others = writes_kv(whole->step) ? StepPart::kBoth : StepPart::kAttention;
  for (const Record* r : records) {
    if (record_kind(*r) != kind || r->step != of_others) continue;
    cells.sharing = r->model_layers.layers - whole->model_layers.layers;
    if (r->backend == attends) cells.of_sharing = r;
  }
  return cells;
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

std::vector<ModelStepPart> parts_of(const KindCells& cells, bool with_write) {
  if (cells.is_skipped()) return {skipped_part(*cells.first())};
  ModelStepPart part = part_of(cells, with_write);
  if (cells.sharing > 0) {
    ModelStepPart sharing = with_write ? part_of({.both = cells.of_sharing}, true)
                                       : part_of({.attention = cells.of_sharing}, false);
    sharing.layers = cells.sharing;
    sharing.host_us = 0;  // planned with the pipeline's
    return {part, sharing};
  }
  if (!with_write || !cells.has_attention()) return {part};
  const Record& write =
      cells.both != nullptr && counts_in_step(*cells.both) ? *cells.both : *cells.kv_write;
  part.layers = write.model_layers.layers;
  ModelStepPart readers = part_of(cells, false);
  readers.layers -= part.layers;
  readers.host_us = 0;  // one plan serves the layers of a kind
  return readers.layers > 0 ? std::vector{part, readers} : std::vector{part};
}

std::string lack_of(const KindCells& cells, const std::string& kind) {
  const Record* const r = cells.first();
  if (r == nullptr) return fmt::format("{}: it was not run", kind);
  if (!attends(r->step)) return fmt::format("{}: attention was not measured", kind);
  if (counts_in_step(*r) && cells.lacks_sharing()) {
    return fmt::format("{}: attention of {} layers that share lists was not measured", kind,
                       cells.sharing);
  }
  if (counts_in_step(*r) && r == cells.both) {
    return fmt::format("{}: measured behind the write only, which other layers lack", kind);
  }
  const std::string reason = r->reason().empty() ? "" : ": " + r->reason();
  return fmt::format("{}: {}{}", kind, verdict_word(*r), reason);
}

bool writes_nothing(const KindCells& cells) {
  const auto is_of_readers = [](const Record* r) {
    return r != nullptr && r->model_layers.layers == 0;
  };
  return (cells.first() != nullptr && cells.first()->is_recurrent()) || cells.is_skipped() ||
         is_of_readers(cells.kv_write) || is_of_readers(cells.both);
}

}  // namespace attnbench
