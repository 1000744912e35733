// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "lib/result/record_text.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using Rank = Ranking::Rank;

bool competes(const Record& r) {
  return r.claims_speed() && r.verdict() != Verdict::kMistrusted && r.timing.median_us > 0;
}

/// Whether other programs may have lengthened its samples by any factor: a barrier waits for the
/// thread that lost its processor. A device with a timer of its own does not wait for processors.
bool was_disturbed(const Record& r) { return r.others.disturb() && !has_device_timer(r); }

Rank rank_beside(const Record& r, const Record& best) {
  if (!has_interval(r) || !has_interval(best)) {
    const bool beyond_doubt =
        r.timing.min_us > 2 * best.timing.max_us && !was_disturbed(r) && !was_disturbed(best);
    return beyond_doubt ? Rank::kSlower : Rank::kOpen;
  }
  if (r.timing.lo_us > best.timing.hi_us) return Rank::kSlower;
  return is_open(r) || is_open(best) ? Rank::kOpen : Rank::kTied;
}

}  // namespace

ComparisonKey::ComparisonKey(const Record& record)
    : scenario(record.scenario),
      case_id(record.case_id),
      step(record.step),
      cache(record.cache),
      launch(record.launch) {}

std::vector<Ranking> rankings(std::span<const Record> records) {
  std::map<ComparisonKey, std::size_t> fastest;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!competes(records[i])) continue;
    const auto [known, is_first] = fastest.try_emplace(ComparisonKey(records[i]), i);
    if (!is_first && records[i].timing.median_us < records[known->second].timing.median_us) {
      known->second = i;
    }
  }
  std::vector<Ranking> found(records.size());
  for (const auto& [key, best] : fastest) found[best] = {Rank::kFastest, 1};
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!competes(records[i])) continue;
    const std::size_t best = fastest.at(ComparisonKey(records[i]));
    if (i == best) continue;
    found[i].rank = rank_beside(records[i], records[best]);
    found[i].ratio = records[i].timing.median_us / records[best].timing.median_us;
    // The mark stands at both sides of a tie, and of a question.
    Rank& of_best = found[best].rank;
    if (found[i].rank == Rank::kTied) of_best = Rank::kTied;
    if (found[i].rank == Rank::kOpen && of_best == Rank::kFastest) of_best = Rank::kOpen;
  }
  return found;
}

std::string ranking_text(const Ranking& ranking) {
  if (!ranking.exists()) return {};
  const std::string ratio = three_digits(ranking.ratio);
  if (ranking.rank == Rank::kTied) return ratio + " =";
  return ranking.rank == Rank::kOpen ? ratio + " ?" : ratio;
}

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

/// "mine failed in 2", of each backend that did; of more than a sentence can name, how many others
/// did.
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
  constexpr std::size_t kNamed = 4;
  const std::size_t named = failed.size() > kNamed + 1 ? kNamed : failed.size();
  for (const auto& [backend, count] : std::span(failed).first(named)) {
    texts.push_back(fmt::format("{} failed in {}", backend, count));
  }
  if (named < failed.size()) {
    texts.push_back(fmt::format("{} other backends failed", failed.size() - named));
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
