// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/printable.h"
#include "lib/base/shell_text.h"
#include "lib/measure/statistics.h"
#include "lib/session/aa_pairs.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

char flag(int property, char letter) {
  if (property < 0) return '.';
  return property == 1 ? letter : '-';
}

/// Both of an A/A pair have one name, since they support the same.
std::string name_of(const Record& r, std::span<const Record> of_case) {
  std::string name(registered_name(r.backend));
  const bool others_ran = std::ranges::any_of(of_case, [&](const Record& other) {
    return registered_name(other.backend) == name && !was_not_run(other);
  });
  if (!others_ran) return name;
  if (r.verdict() == Verdict::kSkipped) name += fmt::format(" {}", to_string(r.cache));
  return r.launch == LaunchMode::kGraph ? name + "/g" : name;
}

}  // namespace

std::string case_name(const RunResult& run, const Record& r) {
  return run.scenarios.size() > 1 ? r.scenario + '/' + r.case_id : r.case_id;
}

std::string cell_name(const RunResult& run, const Record& r) {
  return fmt::format("{}/{}/{}/{}", case_name(run, r), r.backend, to_string(r.cache),
                     to_string(r.launch));
}

std::string scenario_names(const RunResult& run) {
  std::string names;
  for (const ScenarioSource& each : run.scenarios) {
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return names;
}

std::string verdict_word(const Record& record) {
  if (record.is_impossible()) return "IMPOSSIBLE";
  return std::string(to_string(record.verdict()));
}

std::string cache_and_launch(const Record& r) {
  if (!r.is_timed()) return "";
  const std::string_view cache = r.cache == CacheState::kServing ? "serv" : to_string(r.cache);
  if (r.graph_forced) return std::string(cache) + "/f";
  return std::string(cache) + (r.launch == LaunchMode::kGraph ? "/g" : "");
}

std::string bitwise_flags(const Record& record) {
  const BitwiseProperties& b = record.bitwise;
  return {flag(b.repeatable, 'r'), flag(b.page_permutation_invariant, 'p'),
          flag(b.batch_invariant, 'b')};
}

std::string error_text(const Record& record) {
  if (record.error.rows == 0) return {};
  return three_digits(std::max(record.error.bound_ratio, record.error.lse_bound_ratio));
}

bool has_interval(const Record& record) {
  return record.is_timed() && record.timing.rounds >= kFewestRounds;
}

std::string half_width_text(const Record& record) {
  if (!record.claims_speed()) return {};
  if (!has_interval(record)) return "–";
  const double of_median = record.timing.half_width();
  // Four digits of per cent and the star do not fit the terminal's column.
  return of_median < 9.995 ? percent_text(of_median) : fmt::format("{:.0f} ×", of_median);
}

bool is_open(const Record& record) {
  return record.claims_speed() && record.timing.status != MeasureStatus::kConverged;
}

bool ran_out_of_time(const Record& record) {
  return is_open(record) && (record.timing.status == MeasureStatus::kNoisy ||
                             record.timing.status == MeasureStatus::kTimeout);
}

bool has_device_timer(const Record& record) {
  return record.is_timed() && record.timing.enqueue_us > 0;
}

bool has_index_timing(const Record& record) { return record.index.host_us > 0; }

std::string index_text(const IndexTiming& index) {
  return fmt::format("built on the GPU in {}, on the host in {}", time_text(index.device_us),
                     time_text(index.host_us));
}

bool graph_n_has_interval(const Record& record) {
  return record.graph_n.timed() && record.graph_n.timing.rounds >= kFewestRounds;
}

std::string graph_n_status(const Record& record) {
  const BatchedGraphTiming& graph_n = record.graph_n;
  if (!graph_n.tried()) return {};
  if (graph_n.timing.status == MeasureStatus::kInterrupted) return "interrupted";
  return graph_n.timed() ? std::string(to_string(graph_n.timing.status)) : "refused";
}

std::string graph_n_text(const Record& record) {
  const BatchedGraphTiming& graph_n = record.graph_n;
  if (!graph_n.timed()) return graph_n_status(record);
  const std::string spread = graph_n_has_interval(record)
                                 ? " ± " + percent_text(graph_n.timing.half_width())
                                 : std::string();
  const bool open = graph_n.timing.status != MeasureStatus::kConverged;
  return time_text(graph_n.timing.median_us) + spread + (open ? "*" : "");
}

std::string graph_n_line(const Record& record) {
  const BatchedGraphTiming& graph_n = record.graph_n;
  if (!graph_n.tried()) return {};
  const std::string label = fmt::format("graph×{}: ", graph_n.graph.forwards);
  if (!graph_n.timed()) return label + graph_n_status(record) + ": " + graph_n.reason;
  return label + graph_n_text(record) + " a forward, " +
         (graph_n.graph.sets > 1 ? fmt::format("{} sets of inputs in turn", graph_n.graph.sets)
                                 : std::string("the same inputs each time"));
}

std::vector<std::string> tally_parts(const RunResult& run) {
  // In the order of their first cell, so that the words are those of the table.
  using Counts = std::vector<std::pair<std::string, int>>;
  Counts verdicts, statuses;
  const auto count = [](Counts& counts, const std::string& word) {
    const auto known =
        std::ranges::find_if(counts, [&](const auto& entry) { return entry.first == word; });
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  };
  for (const Record& record : run.records) {
    count(verdicts, verdict_word(record));
    if (is_open(record)) count(statuses, std::string(to_string(record.timing.status)));
  }
  for (const Record& record : run.records) {
    if (record.is_short && record.claims_speed()) count(statuses, "short");
  }
  std::vector<std::string> parts = {
      fmt::format("{} cell{}", run.records.size(), run.records.size() == 1 ? "" : "s")};
  for (const Counts& counts : {verdicts, statuses}) {
    for (const auto& [word, number] : counts) {
      const bool last = &word == &counts.back().first;
      parts.push_back(fmt::format("{} {}{}", number, word, last ? "" : ","));
    }
  }
  return parts;
}

bool was_not_run(const Record& record) {
  return record.verdict() == Verdict::kUnsupported || record.verdict() == Verdict::kSkipped;
}

std::string not_run_text(std::span<const Record> of_case) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> reasons;
  for (const Record& r : of_case) {
    if (!was_not_run(r)) continue;
    auto known =
        std::ranges::find(reasons, r.reason(), [](const auto& each) { return each.first; });
    if (known == reasons.end()) known = reasons.insert(known, {r.reason(), {}});
    const std::string name = name_of(r, of_case);
    std::vector<std::string>& names = known->second;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const auto& [reason, names] : reasons) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : " · ", fmt::join(names, ", "), reason);
  }
  return text;
}

namespace {

std::string option(std::string_view name, std::string_view value) {
  return fmt::format(" {} {}", name, shell_quoted(value));
}

}  // namespace

std::string repro_line(const Scenario& scenario, const Record& record,
                       const Registry::Entry& entry) {
  const ScenarioCommand& command = scenario.command;
  std::string line = shell_quoted(command.program) + " run " +
                     shell_quoted(command.file.empty() ? scenario.path : command.file);
  line += option("--case", record.case_id);
  const std::string backend(registered_name(record.backend));
  const PythonEnvironment& environment = entry.info.environment;
  // One environment is named below, in which a name means this backend alone.
  line += option("--backend", environment.name.empty() ? backend : without_environment(backend));
  const bool in_the_file =
      std::ranges::find(scenario.backends, entry.plugin) != scenario.backends.end();
  if (!entry.plugin.empty() && !in_the_file) line += option("--plugin", entry.plugin);
  if (!environment.python.empty()) line += option("--python", to_string(environment));
  // Cache state and seed are always spelled, since the file and the command line can both set them.
  line += option("--cache", to_string(record.cache));
  const bool eager_alone = scenario.measure.launch == std::vector{LaunchMode::kEager};
  if (record.launch != LaunchMode::kEager || !eager_alone) {
    line += option("--launch", to_string(record.launch));
  }
  if (scenario.measure.step != MeasureConfig{}.step) {
    line += option("--step", to_string(record.step));
  }
  line += fmt::format(" --seed {}", scenario.seed);
  if (scenario.sample_nonce != 0) line += fmt::format(" --sample-nonce {}", scenario.sample_nonce);
  if (scenario.measure.aa) line += " --aa";
  if (record.graph_forced) line += " --force-graph";
  if (!scenario.verify.enabled) line += " --no-verify";
  for (const std::string& word : command.options) line += ' ' + shell_quoted(word);
  if (entry.host.empty()) return line;
  for (const std::string& word : command.hosted_options) line += ' ' + shell_quoted(word);
  return line;
}

}  // namespace attnbench
