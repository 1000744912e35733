// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/size_literal.h"
#include "lib/config/value_reader.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

/// Columns have kept this order since they joined, for readers that count them. A field that is not
/// named here has its column behind these.
constexpr const char* kFirst =
    "case mix model backend backend_version device cache launch mode dtype kv_dtype heads_q "
    "heads_kv head_dim_qk head_dim_v page_size requests q_tokens kv_tokens status reason "
    "verdict median_us lo_us hi_us q1_us q3_us min_us max_us samples rounds plan_us "
    "plan_max_us visible_pairs flops bytes_unique bytes_streamed kv_bytes_unique "
    "kv_bytes_streamed tflop_per_s gb_per_s roofline cache_resident impossible max_abs "
    "max_abs_over_rms nmse bound_ratio rms_ratio lse_abs lse_bound_ratio rows non_finite fill "
    "worst_request worst_token worst_head worst_dim worst_page repeatable "
    "page_permutation_invariant batch_invariant fixture_hash repro worst_group aa_pairs "
    "aa_ratio aa_lo aa_hi aa_floor aa_largest enqueue_us sm_mhz discarded clock_events short "
    "index_device_us index_host_us use_cascade use_cascade_reason graph_n_forwards "
    "graph_n_sets graph_n_us graph_n_lo_us graph_n_hi_us graph_n_samples graph_n_rounds "
    "graph_n_status graph_n_reason graph_forced samples_checked scenario tp attention causal "
    "cross_attention sinks alibi sliding_window_size scale logit_cap kv_layout placement "
    "k_scale v_scale sweep update_us graph_bucket step slots_checked worst_state_row "
    "kv_scales packages kernel engine_choice_sglang engine_choice_vllm engine_flag layer_kind "
    "layers_of_kind layers_of_step layers_left_out workspace_bytes attention_chunk "
    "temperature_len causal_block first_use_us q_dtype q_scales q_scale out_dtype out_scale "
    "dual_chunk_size dual_local_size swa_pool padding_requests padding_tokens declared "
    "declared_qk_input declared_p declared_accumulator declared_partial_out "
    "declared_partial_roundings declared_lse others_busy_processors processors gpu_sharers "
    "gpu_sharers_memory";

std::vector<const RecordField*> in_order() {
  std::vector<const RecordField*> columns;
  std::istringstream names(kFirst);
  for (std::string name; names >> name;) {
    const auto field = std::ranges::find(record_fields(), name, &RecordField::column);
    expects(field != record_fields().end(), "a column without a field");
    columns.push_back(&*field);
  }
  for (const RecordField& field : record_fields()) {
    const bool is_placed = std::ranges::find(columns, &field) != columns.end();
    if (!field.column.empty() && !is_placed) columns.push_back(&field);
  }
  return columns;
}

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

constexpr std::string_view kSwept = "sweep:", kQueries = "q_len:", kKeys = "kv_len:";

std::optional<double> number_of(std::string_view text) {
  if (const auto size = parse_size(text)) return static_cast<double>(*size);
  return parse_number(text);
}

/// All that one record fills.
std::vector<std::pair<std::string, double>> added_values(const Record& record) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [path, value] : swept_numbers(record)) {
    values.emplace_back(std::string(kSwept) + path, value);
  }
  for (const RequestGroup& group : record.groups) {
    const auto requests = static_cast<double>(std::max<std::int64_t>(group.requests, 1));
    values.emplace_back(std::string(kQueries) + group.name,
                        static_cast<double>(group.q_tokens) / requests);
    values.emplace_back(std::string(kKeys) + group.name,
                        static_cast<double>(group.kv_tokens) / requests);
  }
  return values;
}

}  // namespace

const std::vector<const RecordField*>& csv_columns() {
  static const std::vector<const RecordField*> columns = in_order();
  return columns;
}

std::string csv_text(const RecordField& column, const Record& record) {
  const Json value = value_of(column, record);
  if (value.is_null()) return column.access.absent;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number_float()) return number_text(value.get<double>());
  if (value.empty()) return {};
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string csv_quoted(std::string text) {
  bool quote = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  std::string out;
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
    if (c == ',' || c == '"') quote = true;
    if (c == '"') out += '"';
    out += c;
  }
  return quote ? '"' + out + '"' : out;
}

void write_csv(const RunResult& run, std::ostream& out) {
  std::string text;
  const std::vector<std::string> added = added_columns(run);
  for (const RecordField* column : csv_columns()) text += column->column + ',';
  for (const std::string& column : added) text += csv_quoted(column) + ',';
  text.back() = '\r';
  text += '\n';
  for (const Record& record : run.records) {
    for (const RecordField* column : csv_columns())
      text += csv_quoted(csv_text(*column, record)) + ',';
    for (const std::string& column : added) text += added_text(column, record) + ',';
    text.back() = '\r';
    text += '\n';
  }
  out << text;
}

std::vector<std::pair<std::string, double>> swept_numbers(const Record& record) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [path, text] : record.sweep) {
    if (const auto number = number_of(text)) numbers.emplace_back(path, *number);
  }
  return numbers;
}

std::vector<std::string> added_columns(const RunResult& run) {
  std::vector<std::string> columns;
  for (const Record& record : run.records) {
    for (const auto& [column, value] : added_values(record)) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::string added_text(const std::string& column, const Record& record) {
  for (const auto& [name, value] : added_values(record)) {
    if (name == column) return fmt::format("{}", value);
  }
  return {};
}

}  // namespace attnbench
