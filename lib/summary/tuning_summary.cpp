// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/tuning_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "lib/backend/tuning.h"
#include "lib/result/ranking.h"
#include "lib/result/record_text.h"
#include "lib/session/aa_pairs.h"
#include "lib/session/hybrid_entry.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// A record as the trial of one value. Trials of one cell have the same case_id.
struct Trial {
  std::string parameter, value, flag;
  Record record;
};

/// What is left of the sweep without the page size: the cell that a page size is tried in.
Trial trial_of_page_size(const Record& record, std::size_t swept) {
  Trial trial;
  trial.parameter = record.backend + " page_size";
  trial.value = record.sweep[swept].second;
  trial.flag = fmt::format("SGLang: --page-size {0}, vLLM: --block-size {0}", trial.value);
  trial.record = record;
  trial.record.case_id = record.mix;
  for (std::size_t i = 0; i < record.sweep.size(); ++i) {
    const auto& [path, value] = record.sweep[i];
    if (i != swept) trial.record.case_id += fmt::format(" {}={}", path, value);
  }
  return trial;
}

std::vector<Trial> trials_of(const RunResult& run) {
  std::set<ComparisonKey> with_pairs;  // where single backends are compared with them
  for (const Record& record : run.records) {
    if (is_hybrid(record.backend)) with_pairs.emplace(record);
  }
  std::vector<Trial> trials;
  for (const Record& record : run.records) {
    if (registered_name(record.backend) != record.backend) continue;  // the second of an A/A pair
    if (with_pairs.contains(ComparisonKey(record))) {
      trials.push_back({"prefill+decode", record.backend, record.engine_flag, record});
    }
    if (const auto tuned = tuned_name(record.backend)) {
      trials.push_back({fmt::format("{}:{}", tuned->base, tuned->parameter),
                        std::string(tuned->value), record.engine_flag, record});
    }
    for (std::size_t i = 0; i < record.sweep.size(); ++i) {
      if (!record.sweep[i].first.ends_with("page_size")) continue;
      trials.push_back(trial_of_page_size(record, i));
    }
  }
  return trials;
}

/// How one value did.
struct ValueResult {
  std::string value, flag;
  int cells = 0;
  int fastest = 0;  ///< of these, ties among them
  double logarithms = 0;

  [[nodiscard]] double geomean() const { return std::exp(logarithms / cells); }
};

TuningSummary summary_of(const std::vector<Trial>& trials, const RunResult& run) {
  std::vector<Record> records;
  for (const Trial& trial : trials) records.push_back(trial.record);
  const std::vector<Ranking> ranking = rankings(records);
  TuningSummary summary;
  std::vector<ValueResult> results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!ranking[i].exists()) continue;
    auto at = std::ranges::find(results, trials[i].value, &ValueResult::value);
    if (at == results.end()) at = results.insert(at, {trials[i].value, trials[i].flag});
    ++at->cells;
    at->fastest += ranking[i].is_best() ? 1 : 0;
    summary.open |= ranking[i].rank == Ranking::Rank::kOpen;
    at->logarithms += std::log(ranking[i].ratio);
  }
  summary.values = results.size();
  if (results.size() < 2) return summary;
  const auto best = std::ranges::min_element(
      results, {}, [](const ValueResult& r) { return std::tuple(-r.cells, r.geomean()); });
  summary.parameter = trials.front().parameter;
  summary.best = best->value;
  summary.geomean = best->geomean();
  summary.flag = best->flag;
  for (const ValueResult& other : results) {
    if (&other == &*best || other.fastest < best->cells) continue;
    summary.as_good += (summary.as_good.empty() ? "" : ", ") + other.value;
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].value != best->value || ranking[i].rank != Ranking::Rank::kSlower) continue;
    for (std::size_t j = 0; j < trials.size(); ++j) {
      if (ranking[j].ratio != 1 || ComparisonKey(records[i]) != ComparisonKey(records[j])) {
        continue;
      }
      const Record& r = records[i];
      summary.exceptions.push_back(
          {fmt::format("{}, {}, {}", case_name(run, r), to_string(r.cache), to_string(r.launch)),
           trials[j].value, ranking[i].ratio});
    }
  }
  return summary;
}

std::string text_of(const TuningSummary& summary) {
  std::string text =
      fmt::format("{}: {} is the best of {} choices (geomean vs best {}", summary.parameter,
                  summary.best, summary.values, three_digits(summary.geomean));
  if (!summary.as_good.empty()) text += "; as good: " + summary.as_good;
  if (summary.open) text += "; some intervals are too wide to tell";
  return text + (summary.flag.empty() ? ")" : "); to set it: " + summary.flag);
}

std::string text_of(const TuningSummary::Exception& exception, const std::string& best) {
  return fmt::format("{}: {} is faster, {} takes {} times as long", exception.cell, exception.value,
                     best, three_digits(exception.ratio));
}

}  // namespace

std::vector<TuningSummary> tuning_summaries(const RunResult& run) {
  std::vector<Trial> rest = trials_of(run);
  std::vector<TuningSummary> summaries;
  while (!rest.empty()) {
    const auto others = std::stable_partition(
        rest.begin(), rest.end(),
        [name = rest.front().parameter](const Trial& trial) { return trial.parameter == name; });
    const TuningSummary summary = summary_of({rest.begin(), others}, run);
    if (summary.values >= 2) summaries.push_back(summary);
    rest.erase(rest.begin(), others);
  }
  return summaries;
}

std::string tuning_terminal_section(const RunResult& run, std::size_t width) {
  std::string text;
  for (const TuningSummary& summary : tuning_summaries(run)) {
    text += wrapped(text_of(summary), width, 2);
    for (const TuningSummary::Exception& exception : summary.exceptions) {
      text += wrapped(text_of(exception, summary.best), width, 6);
    }
  }
  return text.empty() ? text : '\n' + text;
}

std::string tuning_markdown_section(const RunResult& run) {
  std::string text;
  for (const TuningSummary& summary : tuning_summaries(run)) {
    text += fmt::format("- {}\n", markdown_cell(text_of(summary)));
    for (const TuningSummary::Exception& exception : summary.exceptions) {
      text += fmt::format("  - {}\n", markdown_cell(text_of(exception, summary.best)));
    }
  }
  return text.empty() ? text : '\n' + text;
}

}  // namespace attnbench
