// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page_data.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>

#include "lib/gate/gate_json.h"
#include "lib/gate/gate_text.h"
#include "lib/page/plot_facts.h"
#include "lib/report/backend_summary.h"
#include "lib/report/model_step.h"
#include "lib/report/not_run.h"
#include "lib/report/record_fields.h"
#include "lib/report/record_text.h"
#include "lib/report/run_json.h"
#include "lib/report/standing.h"

namespace attnbench {
namespace {

/// Those of record_fields() that a reader of the page asks for. The JSON file has all.
constexpr std::string_view kShown[] = {"scenario",
                                       "case",
                                       "mix",
                                       "model",
                                       "backend",
                                       "backend_version",
                                       "device",
                                       "cache",
                                       "launch",
                                       "step",
                                       "mode",
                                       "dtype",
                                       "kv_dtype",
                                       "heads_q",
                                       "heads_kv",
                                       "head_dim_qk",
                                       "head_dim_v",
                                       "page_size",
                                       "kv_cache/layout",
                                       "requests",
                                       "q_tokens",
                                       "kv_tokens",
                                       "status",
                                       "reason",
                                       "verdict",
                                       "time_us/median",
                                       "time_us/lo",
                                       "time_us/hi",
                                       "time_us/rounds",
                                       "time_us/samples",
                                       "plan_us",
                                       "update_us",
                                       "enqueue_us",
                                       "flops",
                                       "bytes_unique",
                                       "tflop_per_s",
                                       "gb_per_s",
                                       "roofline",
                                       "cache_resident",
                                       "short",
                                       "declared/text",
                                       "error/max_abs",
                                       "error/nmse",
                                       "error/bound_ratio",
                                       "error/rms_ratio",
                                       "error/lse_bound_ratio",
                                       "error/rows",
                                       "error/non_finite",
                                       "error/fill",
                                       "samples_checked",
                                       "fixture_hash",
                                       "repro"};

bool is_shown(const RecordField& field) {
  return std::ranges::find(kShown, field.path) != std::end(kShown);
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// The kinds of ends that a page tells apart.
const char* fate_of(const Record& record) {
  if (record.has_failed()) return "failed";
  if (was_not_run(record)) return "not run";
  if (record.verdict() != Verdict::kPassed) return "doubtful";  // MISTRUSTED, not verified
  // A figure whose interval is wider than asked for, or no figure at all.
  return is_open(record) || !record.claims_speed() ? "noisy" : "fine";
}

/// Columns that are no field of a record, with what fills them.
struct AddedColumn {
  const char* key;
  const char* unit;
  const char* about;
  Json (*value)(std::size_t file, const Record& record, const Standing& standing);
};

constexpr AddedColumn kAdded[] = {
    {"file", "", "Number of the file, from 0",
     [](std::size_t file, const Record&, const Standing&) { return Json(file); }},
    {"outcome", "", "The verdict, or IMPOSSIBLE for a cell that beats the machine",
     [](std::size_t, const Record& r, const Standing&) { return Json(verdict_word(r)); }},
    {"fate", "", "fine, noisy, doubtful, failed or not run",
     [](std::size_t, const Record& r, const Standing&) { return Json(fate_of(r)); }},
    {"vs_best", "", "Median over that of the fastest correct backend",
     [](std::size_t, const Record&, const Standing& s) {
       return s.exists() ? Json(s.ratio) : Json(nullptr);
     }},
    {"vs_best_text", "", "The same; =: intervals overlap, ?: too wide to tell",
     [](std::size_t, const Record&, const Standing& s) { return Json(standing_text(s)); }},
    {"is_best", "", "None of its competitors is known to be faster",
     [](std::size_t, const Record&, const Standing& s) { return Json(s.is_best()); }},
    {"workload", "", "What stays the same along a curve over length",
     [](std::size_t, const Record& r, const Standing&) { return Json(workload_of(r)); }},
    {"kv_len", "tokens", "Keys of a request, mean over the batch",
     [](std::size_t, const Record& r, const Standing&) { return or_null(mean_kv_len(r)); }},
    {"intensity", "FLOP/byte", "flops over bytes_unique",
     [](std::size_t, const Record& r, const Standing&) {
       return or_null(arithmetic_intensity(r));
     }},
};

Json columns_json() {
  Json columns = Json::array();
  for (const AddedColumn& each : kAdded) {
    columns.push_back({{"key", each.key}, {"unit", each.unit}, {"about", each.about}});
  }
  for (const RecordField& field : record_fields()) {
    if (!is_shown(field)) continue;
    columns.push_back({{"key", field.path}, {"unit", field.unit}, {"about", field.description}});
  }
  return columns;
}

void add_rows(Json& rows, std::size_t file, const RunResult& run) {
  const std::vector<Standing> standing = standings(run.records);
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    Json row = Json::array();
    for (const AddedColumn& each : kAdded) {
      row.push_back(each.value(file, run.records[i], standing[i]));
    }
    for (const RecordField& field : record_fields()) {
      if (is_shown(field)) row.push_back(value_of(field, run.records[i]));
    }
    rows.push_back(std::move(row));
  }
}

Json summaries_json(const RunResult& run) {
  std::set<ComparisonKey> all;
  for (const Record& record : run.records) all.emplace(record);
  Json summaries = Json::array();
  for (const BackendSummary& each : backend_summaries(run)) {
    summaries.push_back({{"backend", each.backend},
                         {"ran", each.ran},
                         {"of", all.size()},
                         {"fastest", each.fastest},
                         {"geomean", each.geomean > 0 ? Json(each.geomean) : Json(nullptr)},
                         {"failed", each.failed},
                         {"noisy", each.noisy}});
  }
  return summaries;
}

Json file_json(const NamedRun& file, const std::string& label) {
  Json json = {{"label", label}, {"path", file.path}};
  json.update(run_json(file.run));
  // A seed has 64 bits, of which a number of JavaScript keeps 53.
  for (Json& scenario : json["scenarios"]) scenario["seed"] = scenario["seed"].dump();
  json.erase("scenario");  // the first of scenarios
  json["summaries"] = summaries_json(file.run);
  json["model_steps"] = model_steps_json(file.run);
  return json;
}

Json comparison_with_texts(const GateReport& report) {
  Json json = {{"base", report.base},
               {"new", report.now},
               {"summary", summary_parts(report)},
               {"remarks", report.remarks},
               {"cells", Json::array()}};
  for (const Comparison& each : report.cells) {
    Json cell = comparison_json(each);
    cell["verdict_text"] = verdict_text(each);
    cell["why"] = why_text(each);
    cell["is_listed"] = is_listed(each);
    cell["is_harm"] = is_harm(each);
    json["cells"].push_back(std::move(cell));
  }
  return json;
}

}  // namespace

std::vector<std::string> file_labels(const std::vector<NamedRun>& files) {
  const auto last_part = [](const NamedRun& file) {
    return std::filesystem::path(file.path).filename().string();
  };
  std::vector<std::string> labels;
  for (const NamedRun& file : files) {
    const bool is_unique = std::ranges::count_if(files, [&](const NamedRun& other) {
                             return last_part(other) == last_part(file);
                           }) == 1;
    labels.push_back(is_unique ? last_part(file) : file.path);
  }
  return labels;
}

Json page_data(const PageContent& content) {
  const std::vector<std::string> labels = file_labels(content.files);
  Json json = {{"files", Json::array()},
               {"columns", columns_json()},
               {"rows", Json::array()},
               {"comparison", nullptr}};
  for (std::size_t i = 0; i < content.files.size(); ++i) {
    json["files"].push_back(file_json(content.files[i], labels[i]));
    add_rows(json["rows"], i, content.files[i].run);
  }
  if (content.comparison) json["comparison"] = comparison_with_texts(*content.comparison);
  return json;
}

}  // namespace attnbench
