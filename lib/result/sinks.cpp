// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/sinks.h"

#include <ostream>
#include <string>
#include <utility>

#include "lib/result/model_step.h"
#include "lib/result/ranking.h"
#include "lib/result/record_json.h"
#include "lib/result/record_text.h"
#include "lib/result/run_json.h"
#include "lib/view/json.h"
#include "lib/view/junit.h"

namespace attnbench {

void write_json(const RunResult& run, std::ostream& out) {
  // A record a line: two files differ in the lines of the cells that differ.
  Json header = run_json(run);
  header["answer"] = answer_text(run);
  header["model_steps"] = model_steps_json(run);
  std::string root = header.dump(2, ' ', false, Json::error_handler_t::replace);
  root.resize(root.rfind("\n}"));
  out << root << ",\n  \"records\": [";
  const char* separator = "\n    ";
  for (const Record& record : run.records) {
    out << separator << json_line(record_json(record));
    separator = ",\n    ";
  }
  out << (run.records.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

namespace {

/// An error is what the exit code reports although no answer was wrong: a backend that crashed, or
/// attnbench itself failed.
JunitCase::Outcome outcome_of(const Record& r) {
  using enum JunitCase::Outcome;
  if (r.verdict() == Verdict::kCrashed || r.harness_error() == HarnessError::kDefect) return kError;
  if (r.has_failed()) return kFailure;
  const bool left_out = r.verdict() == Verdict::kUnsupported || r.verdict() == Verdict::kSkipped;
  return left_out ? kSkipped : kPassed;
}

}  // namespace

void write_junit(const RunResult& run, std::ostream& out) {
  JunitSuite suite{.name = scenario_names(run),
                   .timestamp = run.environment.started_utc,
                   .seconds = run.wall_s,
                   .cases = {}};
  for (const Record& r : run.records) {
    suite.cases.push_back({.class_name = r.scenario + "." + r.mix,
                           .name = cell_name(run, r),
                           .outcome = outcome_of(r),
                           .word = verdict_word(r),
                           .reason = r.reason(),
                           .details = r.repro,
                           // A cell that claims no speed shows none.
                           .seconds = r.claims_speed() ? r.timing.median_us / 1e6 : 0.0});
  }
  write_junit_suite(suite, out);
}

namespace {

/// Entries of failed cells have zero times, as Google Benchmark's own reporter writes them: its
/// compare.py needs the keys.
Json entry_of(const Record& r, const std::string& name, std::size_t family) {
  const bool claims = r.claims_speed();
  const double time = claims ? r.timing.median_us : 0;
  Json entry = {{"name", name},
                {"family_index", family},
                {"per_family_instance_index", 0},
                {"run_name", name},
                {"run_type", "iteration"},
                {"repetitions", 1},
                {"repetition_index", 0},
                {"threads", 1}};
  if (!claims) {
    entry["error_occurred"] = true;
    entry["error_message"] = verdict_word(r) + ": " + r.reason();
  }
  if (is_open(r)) entry["label"] = to_string(r.timing.status);
  entry["iterations"] = claims ? r.timing.samples : 0;
  entry["real_time"] = time;
  entry["cpu_time"] = time;
  entry["time_unit"] = "us";
  if (claims) {
    entry["bytes_per_second"] = r.gb_per_s() * 1e9;
    entry["flop_per_s"] = r.tflop_per_s() * 1e12;
  }
  return entry;
}

std::string scenario_hashes(const RunResult& run) {
  std::string text;
  for (const ScenarioSource& each : run.scenarios) text += (text.empty() ? "" : " ") + each.sha256;
  return text;
}

}  // namespace

void write_google_benchmark_json(const RunResult& run, std::ostream& out) {
  const Environment& e = run.environment;
  Json root = {{"context",
                {{"date", e.started_utc},
                 {"host_name", e.hostname_hash},
                 {"executable", "attnbench " + e.version},
                 {"num_cpus", e.device.units},
                 {"mhz_per_cpu", 0},
                 {"cpu_scaling_enabled", false},
                 {"caches", Json::array()},
                 {"load_avg", Json::array()},
                 {"library_build_type", e.build_type == "Debug" ? "debug" : "release"},
                 {"scenario", scenario_names(run)},
                 {"scenario_sha256", scenario_hashes(run)}}},
               {"benchmarks", Json::array()}};
  for (const Record& record : run.records) {
    // A cell that was not tried is left out; a cell that failed is an entry with an error.
    if (!record.is_timed() && !record.has_failed()) continue;
    root["benchmarks"].push_back(
        entry_of(record, cell_name(run, record), root["benchmarks"].size()));
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
