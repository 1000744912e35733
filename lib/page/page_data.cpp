// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page_data.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/page/packed_column.h"
#include "lib/page/plot_facts.h"
#include "lib/result/model_step.h"
#include "lib/result/ranking.h"
#include "lib/result/record_fields.h"
#include "lib/result/record_text.h"
#include "lib/result/run_json.h"
#include "lib/summary/backend_summary.h"
#include "lib/summary/doubts.h"
#include "lib/summary/pair_order.h"

namespace attnbench {
namespace {

/// Those of record_fields() that a reader of the page asks for. The JSON file has all.
constexpr std::string_view kShown[] = {"scenario",
                                       "case",
                                       "mix",
                                       "model",
                                       "backend",
                                       "backend_version",
                                       "packages",
                                       "environment/name",
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
                                       "others/busy_processors",
                                       "gpu_sharers/processes",
                                       "fixture_hash",
                                       "repro"};

/// Those that the page computes from others (data.js).
bool is_computed_there(const RecordField& field) {
  return field.path == "tflop_per_s" || field.path == "gb_per_s";
}

constexpr char kCaseStandIn = '\1', kBackendStandIn = '\2';

bool is_shown(const RecordField& field) {
  return std::ranges::find(kShown, field.path) != std::end(kShown);
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// A line that names its own case and backend, with a character in the place of each (data.js puts
/// them back): most lines of a file are then the same.
std::string with_stand_ins(std::string line, const std::string& case_id,
                           const std::string& backend) {
  for (char& each : line) {
    if (each == kCaseStandIn || each == kBackendStandIn) each = '?';  // in no line of a shell
  }
  const auto replace = [&](const std::string& name, char stand_in) {
    if (name.empty()) return;
    for (std::size_t at = 0; (at = line.find(name, at)) != std::string::npos; ++at) {
      line.replace(at, name.size(), 1, stand_in);
    }
  };
  replace(case_id, kCaseStandIn);
  replace(backend, kBackendStandIn);
  return line;
}

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
  Json (*value)(std::size_t file, const Record& record, const Ranking& ranking);
};

constexpr AddedColumn kAdded[] = {
    {"file", "", "Number of the file, from 0",
     [](std::size_t file, const Record&, const Ranking&) { return Json(file); }},
    {"outcome", "", "The verdict, or IMPOSSIBLE for a cell that beats the machine",
     [](std::size_t, const Record& r, const Ranking&) { return Json(verdict_word(r)); }},
    {"fate", "", "fine, noisy, doubtful, failed or not run",
     [](std::size_t, const Record& r, const Ranking&) { return Json(fate_of(r)); }},
    {"claims", "", "Whether its time claims a speed",
     [](std::size_t, const Record& r, const Ranking&) { return Json(r.claims_speed()); }},
    {"vs_best", "", "Median over that of the fastest correct backend",
     [](std::size_t, const Record&, const Ranking& s) {
       return s.exists() ? Json(s.ratio) : Json(nullptr);
     }},
    {"vs_best_text", "", kRankingLegend,
     [](std::size_t, const Record&, const Ranking& s) { return Json(ranking_text(s)); }},
    {"is_best", "", "None of its competitors is known to be faster",
     [](std::size_t, const Record&, const Ranking& s) { return Json(s.is_best()); }},
    {"workload", "", "What stays the same along a curve over length",
     [](std::size_t, const Record& r, const Ranking&) { return Json(workload_of(r)); }},
    {"kv_len", "tokens", "Keys of a request, mean over the batch",
     [](std::size_t, const Record& r, const Ranking&) { return or_null(mean_kv_len(r)); }},
    {"intensity", "FLOP/byte", "flops over bytes_unique",
     [](std::size_t, const Record& r, const Ranking&) { return or_null(arithmetic_intensity(r)); }},
};

/// A cell, with what its columns are computed from.
struct ShownRow {
  std::size_t file;
  const Record* record;
  Ranking ranking;
};

std::vector<ShownRow> rows_of(const std::vector<NamedRun>& files) {
  std::vector<ShownRow> rows;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::vector<Record>& records = files[file].run.records;
    const std::vector<Ranking> ranking = rankings(records);
    for (std::size_t i = 0; i < records.size(); ++i) {
      rows.push_back({file, &records[i], ranking[i]});
    }
  }
  return rows;
}

template <class Value>
Json column_json(const char* key, const std::string& unit, const std::string& about,
                 const std::vector<ShownRow>& rows, Value value_of_row) {
  std::vector<Json> values;
  values.reserve(rows.size());
  for (const ShownRow& row : rows) values.push_back(value_of_row(row));
  Json column = {{"key", key}, {"unit", unit}, {"about", about}};
  column.update(packed_column(values));
  return column;
}

Json columns_json(const std::vector<ShownRow>& rows) {
  Json columns = Json::array();
  for (const AddedColumn& each : kAdded) {
    columns.push_back(column_json(each.key, each.unit, each.about, rows, [&](const ShownRow& row) {
      return each.value(row.file, *row.record, row.ranking);
    }));
  }
  for (const RecordField& field : record_fields()) {
    if (!is_shown(field)) continue;
    if (is_computed_there(field)) {
      columns.push_back({{"key", field.path}, {"unit", field.unit}, {"about", field.description}});
      continue;
    }
    const bool is_line = field.path == "repro";
    columns.push_back(column_json(
        field.path.c_str(), field.unit, field.description, rows, [&](const ShownRow& row) {
          Json value = value_of(field, *row.record);
          if (!is_line) return value;
          return Json(
              with_stand_ins(value.get<std::string>(), row.record->case_id, row.record->backend));
        }));
  }
  return columns;
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
  json["answer"] = answer_text(file.run);
  json["doubts"] = doubts_of(file.run);
  json["summaries"] = summaries_json(file.run);
  json["model_steps"] = model_steps_json(file.run);
  return json;
}

/// What a page shows of a verdict. The JSON of `compare` has all.
constexpr std::string_view kComparisonPaths[] = {"/scenario",
                                                 "/case",
                                                 "/mix",
                                                 "/backend",
                                                 "/step",
                                                 "/cache",
                                                 "/launch",
                                                 "/verdict",
                                                 "/verdict_text",
                                                 "/why",
                                                 "/is_listed",
                                                 "/is_harm",
                                                 "/speed/base_us",
                                                 "/speed/new_us",
                                                 "/speed/ratio/median",
                                                 "/speed/ratio/lo",
                                                 "/speed/ratio/hi",
                                                 "/speed/allowed_change",
                                                 "/speed/pairs",
                                                 "/repro"};

Json comparison_with_texts(const GateReport& report) {
  std::vector<std::vector<Json>> columns(std::size(kComparisonPaths));
  for (const Comparison& each : report.cells) {
    Json cell = comparison_json(each);
    cell["verdict_text"] = verdict_text(each);
    cell["why"] = why_text(each);
    cell["is_listed"] = is_listed(each);
    cell["is_harm"] = is_harm(each);
    cell["repro"] = with_stand_ins(each.repro, each.cell.case_id, each.cell.backend);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].push_back(
          cell.value(Json::json_pointer(std::string(kComparisonPaths[i])), Json()));
    }
  }
  Json json = {{"base", report.base},
               {"new", report.now},
               {"summary", summary_parts(report)},
               {"remarks", report.remarks},
               {"row_count", report.cells.size()},
               {"columns", Json::array()}};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Json column = {{"key", kComparisonPaths[i].substr(1)}};
    column.update(packed_column(columns[i]));
    json["columns"].push_back(std::move(column));
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
  const std::vector<ShownRow> rows = rows_of(content.files);
  Json json = {{"files", Json::array()},
               {"order_legend", kPairOrderLegend},
               {"row_count", rows.size()},
               {"columns", columns_json(rows)},
               {"comparison", nullptr}};
  for (std::size_t i = 0; i < content.files.size(); ++i) {
    json["files"].push_back(file_json(content.files[i], labels[i]));
  }
  if (content.comparison) json["comparison"] = comparison_with_texts(*content.comparison);
  return json;
}

}  // namespace attnbench
