// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/csv_columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

#include "lib/base/error.h"
#include "lib/report/record_text.h"
#include "lib/report/sweep_json.h"

namespace attnbench {
namespace {

std::string to_text(const std::string& value) { return value; }
std::string to_text(bool value) { return value ? "1" : "0"; }
std::string to_text(int value) { return fmt::format("{}", value); }
std::string to_text(std::int64_t value) { return fmt::format("{}", value); }
/// The shortest decimal that reads back as the same bits.
std::string to_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

template <class Number>
void number_from(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) {
    throw ConfigError(fmt::format("'{}' is not a number", text));
  }
}

void from_text(const std::string& text, std::string& value) { value = text; }
void from_text(const std::string& text, int& value) { number_from(text, value); }
void from_text(const std::string& text, std::int64_t& value) { number_from(text, value); }
void from_text(const std::string& text, double& value) { number_from(text, value); }
void from_text(const std::string& text, bool& value) {
  if (text != "0" && text != "1") throw ConfigError(fmt::format("'{}' is neither 0 nor 1", text));
  value = text == "1";
}

template <class Enum>
Enum one_of(const std::string& text, std::span<const Enum> values) {
  for (const Enum value : values) {
    if (to_string(value) == text) return value;
  }
  throw ConfigError(fmt::format("unknown word '{}'", text));
}

/// A plain field; `access` returns a reference to it.
template <class Access>
CsvColumn field(const char* name, Access access) {
  return {name, [access](const Record& r) { return to_text(access(r)); },
          [access](Record& r, const std::string& text) { from_text(text, access(r)); }};
}

/// A field that is empty unless `exists` says that it holds a measurement.
template <class Exists, class Access>
CsvColumn field_if(const char* name, Exists exists, Access access) {
  return {
      name,
      [exists, access](const Record& r) { return exists(r) ? to_text(access(r)) : std::string(); },
      [access](Record& r, const std::string& text) {
        if (!text.empty()) from_text(text, access(r));
      }};
}

/// A figure that a reader computes again from other columns.
template <class Compute>
CsvColumn derived(const char* name, Compute compute) {
  return {
      name,
      [compute](const Record& r) { return r.claims_speed() ? to_text(compute(r)) : std::string(); },
      [](Record&, const std::string&) {}};
}

bool is_timed(const Record& r) { return r.timed; }
bool is_twin(const Record& r) { return r.aa.pairs > 0; }
bool has_floor(const Record& r) { return r.aa.has_interval(); }
bool is_repeated(const Record& r) { return r.graph_n.tried(); }
bool is_repeated_and_timed(const Record& r) { return r.graph_n.timed(); }
bool is_compared(const Record& r) { return r.error.rows > 0; }

bool has_window(const Record& r) { return r.layer.sliding_window_size >= 0; }
bool has_logit_cap(const Record& r) { return r.layer.logit_cap > 0; }

template <class Access>
CsvColumn timing(const char* name, Access access) {
  return field_if(name, is_timed, access);
}

template <class Access>
CsvColumn error(const char* name, Access access) {
  return field_if(name, is_compared, access);
}

CsvColumn verdict_column() {
  return {"verdict", [](const Record& r) { return std::string(to_string(r.verdict)); },
          [](Record& r, const std::string& text) {
            static constexpr Verdict kAll[] = {
                Verdict::kNotVerified, Verdict::kPassed,  Verdict::kMistrusted, Verdict::kIncorrect,
                Verdict::kUnsupported, Verdict::kSkipped, Verdict::kCrashed};
            r.verdict = one_of<Verdict>(text, kAll);
          }};
}

CsvColumn cache_column() {
  return {
      "cache", [](const Record& r) { return std::string(to_string(r.cache)); },
      [](Record& r, const std::string& text) { r.cache = one_of<CacheState>(text, kCacheStates); }};
}

CsvColumn launch_column() {
  return {"launch", [](const Record& r) { return std::string(to_string(r.launch)); },
          [](Record& r, const std::string& text) {
            static constexpr LaunchMode kAll[] = {LaunchMode::kEager, LaunchMode::kGraph};
            r.launch = one_of<LaunchMode>(text, kAll);
          }};
}

/// "power_cap thermal".
CsvColumn clock_events_column() {
  return {"clock_events", [](const Record& r) { return to_string(r.timing.clock_events); },
          [](Record& r, const std::string& text) {
            ClockEvents& events = r.timing.clock_events;
            events.power_cap = text.find("power_cap") != std::string::npos;
            events.thermal = text.find("thermal") != std::string::npos;
            events.hw_slowdown = text.find("hw_slowdown") != std::string::npos;
          }};
}

/// The status of a timing by its word; kConverged for words that are none.
MeasureStatus measure_status(const std::string& text) {
  for (const MeasureStatus status :
       {MeasureStatus::kNoisy, MeasureStatus::kTimeout, MeasureStatus::kThrottled,
        MeasureStatus::kHostSync, MeasureStatus::kFailed}) {
    if (to_string(status) == text) return status;
  }
  return MeasureStatus::kConverged;
}

CsvColumn graph_n_status_column() {
  return {"graph_n_status", graph_n_status, [](Record& r, const std::string& text) {
            r.graph_n.timing.interrupted = text == "interrupted";
            r.graph_n.timing.status = measure_status(text);
          }};
}

/// "converged", "noisy", "timeout" … are also the status of the timing.
CsvColumn status_column() {
  return {"status", [](const Record& r) { return r.status; },
          [](Record& r, const std::string& text) {
            r.status = text;
            r.timing.interrupted = text == "interrupted";
            r.timing.status = measure_status(text);
          }};
}

/// A JSON object of texts, as in the JSON file; empty without a sweep.
CsvColumn sweep_column() {
  return {"sweep",
          [](const Record& r) {
            return r.sweep.empty()
                       ? std::string()
                       : sweep_json(r).dump(-1, ' ', false, Json::error_handler_t::replace);
          },
          [](Record& r, const std::string& text) {
            if (text.empty()) return;
            const Json values = Json::parse(text, nullptr, false);
            if (!values.is_object()) {
              throw ConfigError(fmt::format("'{}' is no JSON object", text));
            }
            for (const auto& [path, value] : values.items()) {
              if (!value.is_string()) throw ConfigError(fmt::format("{} is no text", path));
              r.sweep.emplace_back(path, value.get<std::string>());
            }
          }};
}

CsvColumn median_column() {
  CsvColumn column = timing(
      "median_us", [](auto& r) -> auto& { return r.timing.median_us; });
  column.read = [read = column.read](Record& r, const std::string& text) {
    r.timed = !text.empty();
    read(r, text);
  };
  return column;
}

std::array<CsvColumn, kCsvColumns> make_columns() {
  return {
      field(
          "case", [](auto& r) -> auto& { return r.case_id; }),
      field(
          "mix", [](auto& r) -> auto& { return r.mix; }),
      field(
          "model", [](auto& r) -> auto& { return r.model; }),
      field(
          "backend", [](auto& r) -> auto& { return r.backend; }),
      field(
          "backend_version", [](auto& r) -> auto& { return r.backend_version; }),
      field(
          "device", [](auto& r) -> auto& { return r.device; }),
      cache_column(),
      launch_column(),
      field(
          "mode", [](auto& r) -> auto& { return r.mode; }),
      field(
          "dtype", [](auto& r) -> auto& { return r.dtype; }),
      field(
          "kv_dtype", [](auto& r) -> auto& { return r.kv_dtype; }),
      field(
          "heads_q", [](auto& r) -> auto& { return r.heads_q; }),
      field(
          "heads_kv", [](auto& r) -> auto& { return r.heads_kv; }),
      field(
          "head_dim_qk", [](auto& r) -> auto& { return r.head_dim_qk; }),
      field(
          "head_dim_v", [](auto& r) -> auto& { return r.head_dim_v; }),
      field(
          "page_size", [](auto& r) -> auto& { return r.page_size; }),
      field(
          "requests", [](auto& r) -> auto& { return r.requests; }),
      field(
          "q_tokens", [](auto& r) -> auto& { return r.q_tokens; }),
      field(
          "kv_tokens", [](auto& r) -> auto& { return r.kv_tokens; }),
      status_column(),
      field(
          "reason", [](auto& r) -> auto& { return r.reason; }),
      verdict_column(),
      median_column(),
      field_if(
          "lo_us", has_interval, [](auto& r) -> auto& { return r.timing.lo_us; }),
      field_if(
          "hi_us", has_interval, [](auto& r) -> auto& { return r.timing.hi_us; }),
      timing(
          "q1_us", [](auto& r) -> auto& { return r.timing.q1_us; }),
      timing(
          "q3_us", [](auto& r) -> auto& { return r.timing.q3_us; }),
      timing(
          "min_us", [](auto& r) -> auto& { return r.timing.min_us; }),
      timing(
          "max_us", [](auto& r) -> auto& { return r.timing.max_us; }),
      timing(
          "samples", [](auto& r) -> auto& { return r.timing.samples; }),
      timing(
          "rounds", [](auto& r) -> auto& { return r.timing.rounds; }),
      timing(
          "plan_us", [](auto& r) -> auto& { return r.plan.median_us; }),
      timing(
          "plan_max_us", [](auto& r) -> auto& { return r.plan.max_us; }),
      field(
          "visible_pairs", [](auto& r) -> auto& { return r.cost.visible_pairs; }),
      field(
          "flops", [](auto& r) -> auto& { return r.cost.flops; }),
      field(
          "bytes_unique", [](auto& r) -> auto& { return r.cost.bytes_unique; }),
      field(
          "bytes_streamed", [](auto& r) -> auto& { return r.cost.bytes_streamed; }),
      field(
          "kv_bytes_unique", [](auto& r) -> auto& { return r.cost.kv_bytes_unique; }),
      field(
          "kv_bytes_streamed", [](auto& r) -> auto& { return r.cost.kv_bytes_streamed; }),
      derived("tflop_per_s", [](const Record& r) { return r.tflop_per_s(); }),
      derived("gb_per_s", [](const Record& r) { return r.gb_per_s(); }),
      field_if(
          "roofline", [](const Record& r) { return r.claims_speed(); },
          [](auto& r) -> auto& { return r.roofline; }),
      field(
          "cache_resident", [](auto& r) -> auto& { return r.cache_resident; }),
      field(
          "impossible", [](auto& r) -> auto& { return r.impossible; }),
      error(
          "max_abs", [](auto& r) -> auto& { return r.error.max_abs; }),
      error(
          "max_abs_over_rms", [](auto& r) -> auto& { return r.error.max_abs_over_rms; }),
      error(
          "nmse", [](auto& r) -> auto& { return r.error.nmse; }),
      error(
          "bound_ratio", [](auto& r) -> auto& { return r.error.bound_ratio; }),
      error(
          "rms_ratio", [](auto& r) -> auto& { return r.error.rms_ratio; }),
      error(
          "lse_abs", [](auto& r) -> auto& { return r.error.lse_abs; }),
      error(
          "lse_bound_ratio", [](auto& r) -> auto& { return r.error.lse_bound_ratio; }),
      error(
          "rows", [](auto& r) -> auto& { return r.error.rows; }),
      error(
          "non_finite", [](auto& r) -> auto& { return r.error.non_finite; }),
      error(
          "fill", [](auto& r) -> auto& { return r.error.fill; }),
      error(
          "worst_request", [](auto& r) -> auto& { return r.error.worst.request; }),
      error(
          "worst_token", [](auto& r) -> auto& { return r.error.worst.token; }),
      error(
          "worst_head", [](auto& r) -> auto& { return r.error.worst.head; }),
      error(
          "worst_dim", [](auto& r) -> auto& { return r.error.worst.dim; }),
      error(
          "worst_page", [](auto& r) -> auto& { return r.error.worst.page; }),
      // -1 not tested, 0 no, 1 yes.
      field(
          "repeatable", [](auto& r) -> auto& { return r.bitwise.repeatable; }),
      field(
          "page_permutation_invariant",
          [](auto& r) -> auto& { return r.bitwise.page_permutation_invariant; }),
      field(
          "batch_invariant", [](auto& r) -> auto& { return r.bitwise.batch_invariant; }),
      field(
          "fixture_hash", [](auto& r) -> auto& { return r.fixture_hash; }),
      field(
          "repro", [](auto& r) -> auto& { return r.repro; }),
      error(
          "worst_group", [](auto& r) -> auto& { return r.error.worst.group; }),
      field_if(
          "aa_pairs", is_twin, [](auto& r) -> auto& { return r.aa.pairs; }),
      field_if(
          "aa_ratio", is_twin, [](auto& r) -> auto& { return r.aa.median; }),
      field_if(
          "aa_lo", has_floor, [](auto& r) -> auto& { return r.aa.lo; }),
      field_if(
          "aa_hi", has_floor, [](auto& r) -> auto& { return r.aa.hi; }),
      {"aa_floor",
       [](const Record& r) { return has_floor(r) ? to_text(r.aa.floor()) : std::string(); },
       [](Record&, const std::string&) {}},
      field_if(
          "aa_largest", is_twin, [](auto& r) -> auto& { return r.aa.largest; }),
      field_if(
          "enqueue_us", has_device_timer, [](auto& r) -> auto& { return r.timing.enqueue_us; }),
      field_if(
          "sm_mhz", [](const Record& r) { return r.timed && r.timing.sm_mhz > 0; },
          [](auto& r) -> auto& { return r.timing.sm_mhz; }),
      timing(
          "discarded", [](auto& r) -> auto& { return r.timing.discarded; }),
      clock_events_column(),
      field(
          "short", [](auto& r) -> auto& { return r.is_short; }),
      field_if(
          "index_device_us", has_index_timing, [](auto& r) -> auto& { return r.index.device_us; }),
      field_if(
          "index_host_us", has_index_timing, [](auto& r) -> auto& { return r.index.host_us; }),
      // vLLM's rule: yes, no, or - where no requests share a prefix.
      field(
          "use_cascade", [](auto& r) -> auto& { return r.use_cascade.answer; }),
      field(
          "use_cascade_reason", [](auto& r) -> auto& { return r.use_cascade.reason; }),
      // Short cells of a GPU, as a graph of many forwards.
      field_if(
          "graph_n_forwards", is_repeated,
          [](auto& r) -> auto& { return r.graph_n.repeats.forwards; }),
      field_if(
          "graph_n_sets", is_repeated, [](auto& r) -> auto& { return r.graph_n.repeats.sets; }),
      field_if(
          "graph_n_us", is_repeated_and_timed,
          [](auto& r) -> auto& { return r.graph_n.timing.median_us; }),
      field_if(
          "graph_n_lo_us", graph_n_has_interval,
          [](auto& r) -> auto& { return r.graph_n.timing.lo_us; }),
      field_if(
          "graph_n_hi_us", graph_n_has_interval,
          [](auto& r) -> auto& { return r.graph_n.timing.hi_us; }),
      field_if(
          "graph_n_samples", is_repeated,
          [](auto& r) -> auto& { return r.graph_n.timing.samples; }),
      field_if(
          "graph_n_rounds", is_repeated, [](auto& r) -> auto& { return r.graph_n.timing.rounds; }),
      graph_n_status_column(),
      field(
          "graph_n_reason", [](auto& r) -> auto& { return r.graph_n.reason; }),
      field(
          "graph_forced", [](auto& r) -> auto& { return r.graph_forced; }),
      field(
          "samples_checked", [](auto& r) -> auto& { return r.samples_checked; }),
      field(
          "scenario", [](auto& r) -> auto& { return r.scenario; }),
      field(
          "tp", [](auto& r) -> auto& { return r.tp; }),
      field(
          "attention", [](auto& r) -> auto& { return r.layer.attention; }),
      field(
          "causal", [](auto& r) -> auto& { return r.layer.causal; }),
      field(
          "cross_attention", [](auto& r) -> auto& { return r.layer.cross; }),
      field(
          "sinks", [](auto& r) -> auto& { return r.layer.sinks; }),
      field(
          "alibi", [](auto& r) -> auto& { return r.layer.alibi; }),
      field_if(
          "sliding_window_size", has_window,
          [](auto& r) -> auto& { return r.layer.sliding_window_size; }),
      field(
          "scale", [](auto& r) -> auto& { return r.layer.scale; }),
      field_if(
          "logit_cap", has_logit_cap, [](auto& r) -> auto& { return r.layer.logit_cap; }),
      field(
          "kv_layout", [](auto& r) -> auto& { return r.kv_cache.layout; }),
      field(
          "placement", [](auto& r) -> auto& { return r.kv_cache.placement; }),
      field(
          "k_scale", [](auto& r) -> auto& { return r.kv_cache.k_scale; }),
      field(
          "v_scale", [](auto& r) -> auto& { return r.kv_cache.v_scale; }),
      sweep_column(),
  };
}

}  // namespace

const std::array<CsvColumn, kCsvColumns>& csv_columns() {
  static const std::array<CsvColumn, kCsvColumns> columns = make_columns();
  return columns;
}

}  // namespace attnbench
