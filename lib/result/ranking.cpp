// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/ranking.h"

#include <cstddef>
#include <map>

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

}  // namespace attnbench
