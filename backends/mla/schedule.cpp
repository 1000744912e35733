// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "lib/base/int_math.h"

namespace attnbench::mla {
namespace {

// In steps, of about 3 us each on an H200: starting and storing a piece, and the merge, whose
// launch takes 3.5 us beside few tiles.
constexpr std::int64_t kStartCost = 2;
constexpr std::int64_t merge_cost(std::size_t tiles, std::size_t parts) {
  return 4 * tiles <= parts ? 1 : 2;
}

/// Numbers of tiles, the longest first. Counted instead of compared: a prompt has a tile for every
/// token or few, but not many lengths.
std::vector<std::size_t> longest_first(const std::vector<std::int64_t>& steps, std::int64_t most) {
  const auto shorter = [&](std::int64_t of) { return static_cast<std::size_t>(most - of); };
  std::vector<std::size_t> begin(static_cast<std::size_t>(most) + 2, 0);
  for (const std::int64_t of : steps) ++begin[shorter(of) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> order(steps.size());
  for (std::size_t tile = 0; tile < steps.size(); ++tile) {
    order[begin[shorter(steps[tile])]++] = tile;
  }
  return order;
}

/// Parts by their load. The least load only grows, and no part exceeds it by more than the cost of
/// one tile. One list for each load in that range, used in turn, therefore holds all parts.
class Loads {
 public:
  Loads(std::size_t parts, std::int64_t most_added)
      : first_(static_cast<std::size_t>(most_added) + 1, kNone), next_(parts, kNone) {
    for (std::size_t part = parts; part-- > 0;) put(part, 0);
  }

  /// Adds `cost` to a part that has least to do.
  std::size_t add(std::int64_t cost) {
    while (list(least_) == kNone) ++least_;
    const std::size_t part = list(least_);
    list(least_) = next_[part];
    put(part, least_ + cost);
    most_ = std::max(most_, least_ + cost);
    return part;
  }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t& list(std::int64_t load) {
    return first_[static_cast<std::size_t>(load) % first_.size()];
  }
  void put(std::size_t part, std::int64_t load) {
    next_[part] = list(load);
    list(load) = part;
  }

  std::vector<std::size_t> first_;  ///< of each list
  std::vector<std::size_t> next_;   ///< in the same list
  std::int64_t least_ = 0, most_ = 0;
};

Schedule assign_whole(const std::vector<std::int64_t>& steps, std::size_t parts) {
  const std::int64_t most = *std::max_element(steps.begin(), steps.end());
  const std::vector<std::size_t> order = longest_first(steps, most);
  Loads loads(parts, most + kStartCost);
  Schedule schedule;
  schedule.part_begin.assign(parts + 1, 0);
  std::vector<std::size_t> part_of;
  part_of.reserve(order.size());
  for (const std::size_t tile : order) {
    part_of.push_back(loads.add(steps[tile] + kStartCost));
    ++schedule.part_begin[part_of.back() + 1];
  }
  schedule.longest = loads.most();
  std::partial_sum(schedule.part_begin.begin(), schedule.part_begin.end(),
                   schedule.part_begin.begin());
  schedule.pieces.resize(order.size());
  std::vector<std::size_t> next = schedule.part_begin;
  for (std::size_t i = 0; i < order.size(); ++i) {
    schedule.pieces[next[part_of[i]]++] = {order[i], 0, steps[order[i]]};
  }
  return schedule;
}

/// Tiles one after the other, cut where a part has `longest`; nothing if the parts do not suffice.
std::optional<Schedule> cut(const std::vector<std::int64_t>& steps, std::size_t parts,
                            std::int64_t longest) {
  Schedule schedule;
  schedule.longest = longest;
  schedule.part_begin.push_back(0);
  schedule.pieces.reserve(steps.size() + parts);
  std::int64_t room = longest;
  for (std::size_t tile = 0; tile < steps.size(); ++tile) {
    for (std::int64_t at = 0; at < steps[tile];) {
      const std::int64_t take = std::min(steps[tile] - at, room - kStartCost);
      if (take <= 0) {
        schedule.part_begin.push_back(schedule.pieces.size());
        if (schedule.part_begin.size() > parts) return std::nullopt;
        room = longest;
        continue;
      }
      schedule.pieces.push_back({tile, at, at + take});
      at += take;
      room -= take + kStartCost;
    }
  }
  schedule.part_begin.resize(parts + 1, schedule.pieces.size());
  return schedule;
}

}  // namespace

Schedule make_schedule(const std::vector<std::int64_t>& steps, std::size_t parts) {
  if (steps.empty()) return {{}, std::vector<std::size_t>(parts + 1, 0), 0};
  Schedule whole = assign_whole(steps, parts);
  const std::int64_t total =
      std::accumulate(steps.begin(), steps.end(), std::int64_t{0}) + std::ssize(steps) * kStartCost;
  const std::int64_t least =
      std::max(ceil_div(total, static_cast<std::int64_t>(parts)), kStartCost + 1);
  const std::int64_t merge = merge_cost(steps.size(), parts);
  for (std::int64_t longest = least; longest + merge < whole.longest; ++longest) {
    if (std::optional<Schedule> made = cut(steps, parts, longest)) return *std::move(made);
  }
  return whole;
}

}  // namespace attnbench::mla
