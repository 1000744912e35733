// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "lib/result/ranking.h"
#include "lib/result/record_text.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// One backend among its rivals.
struct Contender {
  std::string backend;
  int first = 0;               ///< comparisons in which its median is the least, of equal ones each
  int fastest = 0;             ///< of these, and of ties, where that is beyond doubt
  double best = 0, worst = 0;  ///< of its ratios
};

/// Contenders in the order of their first figure, and how many comparisons there are.
struct Leaders {
  std::vector<Contender> contenders;
  std::size_t comparisons = 0;
  bool by_case = true;  ///< each case is compared once
};

Leaders leaders_of(const RunResult& run) {
  const std::vector<Ranking> ranking = rankings(run.records);
  std::map<ComparisonKey, int> rivals;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (ranking[i].exists()) ++rivals[ComparisonKey(run.records[i])];
  }
  std::erase_if(rivals, [](const auto& each) { return each.second < 2; });
  Leaders leaders{{}, rivals.size(), true};
  std::set<std::tuple<std::string, std::string, StepPart>> cases;
  for (const auto& [key, count] : rivals) {
    leaders.by_case &= cases.emplace(key.scenario, key.case_id, key.step).second;
  }
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& r = run.records[i];
    if (!ranking[i].exists() || !rivals.contains(ComparisonKey(r))) continue;
    auto known = std::ranges::find(leaders.contenders, r.backend, &Contender::backend);
    const double ratio = ranking[i].ratio;
    if (known == leaders.contenders.end()) {
      known = leaders.contenders.insert(known, {r.backend, 0, 0, ratio, ratio});
    }
    known->first += ratio <= 1 ? 1 : 0;
    known->fastest += ranking[i].is_best() ? 1 : 0;
    known->best = std::min(known->best, ratio);
    known->worst = std::max(known->worst, ratio);
  }
  return leaders;
}

/// "1.00-1.17 of the best", or "1.00 of the best" where all are alike.
std::string range_text(const Contender& c) {
  const std::string best = three_digits(c.best), worst = three_digits(c.worst);
  return (best == worst ? best : best + "-" + worst) + " of the best";
}

/// "mine failed in 2", of each backend that did.
std::vector<std::string> failures_of(const RunResult& run) {
  std::vector<std::pair<std::string, int>> failed;
  for (const Record& r : run.records) {
    if (!r.has_failed()) continue;
    const auto known = std::ranges::find(failed, r.backend, &std::pair<std::string, int>::first);
    if (known == failed.end()) {
      failed.emplace_back(r.backend, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [backend, count] : failed) {
    texts.push_back(fmt::format("{} failed in {}", backend, count));
  }
  return texts;
}

}  // namespace

std::string answer_text(const RunResult& run) {
  const Leaders leaders = leaders_of(run);
  if (leaders.comparisons == 0) return {};
  const Contender& ahead = *std::ranges::max_element(
      leaders.contenders, {},
      [](const Contender& c) { return std::tuple(c.fastest, c.first, -c.worst); });
  const std::size_t all = leaders.comparisons;
  const std::string_view noun = leaders.by_case ? "case" : "cell";
  const std::string of_all = fmt::format("of {} {}{}", all, noun, all == 1 ? "" : "s");
  std::string text =
      ahead.fastest > 0
          ? fmt::format("{} is fastest in {} {}", ahead.backend, ahead.fastest, of_all)
          : fmt::format("no backend is known to be fastest, {} leads in {} {}", ahead.backend,
                        ahead.first, of_all);
  text += ", " + range_text(ahead);
  const auto uncertain = std::ranges::count_if(run.records, is_open);
  if (uncertain > 0) {
    text += fmt::format("; {} figure{} uncertain", uncertain, uncertain == 1 ? "" : "s");
  }
  for (const std::string& failure : failures_of(run)) text += "; " + failure;
  return text;
}

}  // namespace attnbench
