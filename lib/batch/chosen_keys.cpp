// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/chosen_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

/// First keys that always remain under SelectionPattern::kRecent (StreamingLLM's attention sinks).
constexpr std::int64_t kFirstKeys = 4;

/// Numbers of one purpose.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : key_(key) {}
  /// Below `count`, which is less than 2^32.
  [[nodiscard]] std::int64_t below(std::int64_t count) {
    const std::uint64_t bits = combine(key_, number_++) >> 32;
    return static_cast<std::int64_t>(bits * static_cast<std::uint64_t>(count) >> 32);
  }

 private:
  std::uint64_t key_;
  std::uint64_t number_ = 0;
};

/// Entries of the list of the query at `position`: the one of a tail is empty where all units are
/// complete.
std::int64_t entries_of(const Selection& rule, std::int64_t position) {
  const bool has_no_tail = rule.tail == SelectionTail::kOpen && (position + 1) % rule.unit == 0;
  return rule.topk - (has_no_tail ? 1 : 0);
}

/// Different units among so many entries.
std::int64_t different_units(SelectionPattern pattern, std::int64_t entries) {
  const std::int64_t without_holes = entries - ceil_div(entries, std::int64_t{4});
  if (pattern == SelectionPattern::kDuplicates) return ceil_div(entries, std::int64_t{2});
  if (pattern == SelectionPattern::kHoles) return std::max<std::int64_t>(without_holes, 1);
  return entries;
}

/// A list of different units under construction, those that the query at `position` can see.
class ListOfUnits {
 public:
  ListOfUnits(const Selection& rule, std::int64_t position)
      : rule_(rule),
        entries_(entries_of(rule, position)),
        room_(different_units(rule.pattern, entries_)),
        position_(position),
        units_(rule.candidates(position)),
        taken_(to_size(units_)) {}

  [[nodiscard]] std::vector<std::int32_t> chosen(std::uint64_t seed) && {
    Draws draws(combine(combine(seed, 1), static_cast<std::uint64_t>(position_)));
    if (units_ <= room_) {
      for (std::int64_t unit = 0; unit < units_; ++unit) take(unit);
    } else {
      take_some(seed, draws);
    }
    if (rule_.pattern == SelectionPattern::kDuplicates) repeat(draws);
    if (rule_.pattern == SelectionPattern::kHoles) spread(draws);
    return std::move(list_);
  }

 private:
  void take(std::int64_t unit) {
    if (std::exchange(taken_[to_size(unit)], 1) != 0) return;
    list_.push_back(narrow_i32(unit));
  }

  /// Where the query sees more units than there is room for.
  void take_some(std::uint64_t seed, Draws& draws) {
    if (!rule_.names_complete_units()) take(units_ - 1);
    switch (rule_.pattern) {
      case SelectionPattern::kUniform:
      case SelectionPattern::kHoles:
      case SelectionPattern::kDuplicates:
      case SelectionPattern::kCaptured:
        break;
      case SelectionPattern::kRecent:
        take_first_and_latest();
        break;
      case SelectionPattern::kShared:
        take_common_part(seed);
        break;
      case SelectionPattern::kOnePage:
        take_pages(draws);
        break;
      case SelectionPattern::kEveryPage:
        take_one_of_each_page(draws);
        break;
    }
    while (std::ssize(list_) < room_) take(draws.below(units_));
    // Order means nothing: the query's own unit may stand anywhere, but as a tail it comes last.
    std::swap(list_.front(), rule_.has_tail() ? list_.back() : list_[to_size(draws.below(room_))]);
  }

  /// Names units of the list again until it is full.
  void repeat(Draws& draws) {
    const std::int64_t units = std::ssize(list_);
    while (units > 0 && std::ssize(list_) < entries_) {
      list_.push_back(list_[to_size(draws.below(units))]);
    }
  }

  /// Puts -1 between the entries until the list is full.
  void spread(Draws& draws) {
    std::vector<std::int32_t> columns(to_size(entries_), -1);
    auto next = list_.begin();
    for (std::int64_t left = entries_; left > 0; --left) {
      if (draws.below(left) >= list_.end() - next) continue;
      columns[to_size(entries_ - left)] = *next++;
    }
    list_ = std::move(columns);
  }

  void take_first_and_latest() {
    const std::int64_t first = std::min(ceil_div(kFirstKeys, rule_.unit), entries_ / 2);
    for (std::int64_t unit = 0; unit < first; ++unit) take(unit);
    for (std::int64_t unit = units_ - 1; std::ssize(list_) < entries_; --unit) take(unit);
  }

  /// A run that begins with a page.
  void take_pages(Draws& draws) {
    const std::int64_t page = rule_.page_size, last = (units_ - room_ + 1) * rule_.unit - 1;
    std::int64_t unit = draws.below(last / page + 1) * page / rule_.unit;
    for (; std::ssize(list_) < room_; ++unit) take(unit);
  }

  /// Where there is no room for all pages, of some all over the context.
  void take_one_of_each_page(Draws& draws) {
    const std::int64_t page = rule_.page_size, keys = std::min(position_ + 1, units_ * rule_.unit);
    const std::int64_t pages = ceil_div(keys, page), taken = std::min(pages, room_ - 1);
    for (std::int64_t i = 0; i < taken; ++i) {
      const std::int64_t begin = i * pages / taken * page;
      take((begin + draws.below(std::min(page, keys - begin))) / rule_.unit);
    }
  }

  /// Drawn among the units that the first of the neighbours sees that cannot have all.
  void take_common_part(std::uint64_t seed) {
    const std::int64_t tile = position_ / kNeighbours;
    // A list has an entry less where no tail is open, and the last key of a unit is the first.
    const std::int64_t less = rule_.tail == SelectionTail::kOpen ? 1 : 0;
    const std::int64_t first_without_all = rule_.names_complete_units()
                                               ? rule_.window + (rule_.topk + 1) * rule_.unit - 1
                                               : rule_.topk * rule_.unit - less;
    const std::int64_t first = std::max(tile * kNeighbours, first_without_all);
    const std::int64_t units = rule_.candidates(first);
    const auto common = static_cast<std::int64_t>(
        std::llround(rule_.overlap * static_cast<double>(rule_.topk - less - 1)));
    Draws draws(combine(combine(seed, 2), static_cast<std::uint64_t>(tile)));
    std::vector<char> drawn(to_size(units));
    for (std::int64_t count = 0; count < common;) {
      const std::int64_t unit = draws.below(units);
      if (std::exchange(drawn[to_size(unit)], 1) != 0) continue;
      ++count;
      take(unit);
    }
  }

  const Selection& rule_;
  std::int64_t entries_;
  std::int64_t room_;  ///< for different units
  std::int64_t position_;
  std::int64_t units_;
  std::vector<char> taken_;
  std::vector<std::int32_t> list_;
};

/// Fills the columns that `list` leaves; returns topk_length.
std::int32_t place(const Selection& rule, std::span<const std::int32_t> list,
                   std::span<std::int32_t> columns) {
  const std::size_t left = columns.size() - list.size();
  if (rule.padding == SelectionPadding::kFront) {
    std::ranges::fill(columns.first(left), -1);
    std::ranges::copy(list, columns.begin() + static_cast<std::ptrdiff_t>(left));
    return narrow_i32(std::ssize(columns));
  }
  std::ranges::copy(list, columns.begin());
  std::ranges::fill(columns.last(left), -1);
  if (rule.padding == SelectionPadding::kRepeat && !list.empty()) {
    for (std::size_t i = list.size(); i < columns.size(); ++i) columns[i] = list[i % list.size()];
  }
  return narrow_i32(std::ssize(list));
}

}  // namespace

std::span<const std::int32_t> ChosenKeys::list(std::int64_t token, std::int64_t group) const {
  const std::int64_t at = token * groups + group;
  return std::span(indices).subspan(to_size(at * width), to_size(lengths[to_size(at)]));
}

ChosenKeys ChosenKeys::of_tokens(std::int64_t first, std::int64_t count) const {
  const auto part = [&](const auto& all, std::int64_t per_token) {
    const auto begin = all.begin() + first * per_token;
    return std::remove_cvref_t<decltype(all)>(begin, begin + count * per_token);
  };
  return {part(indices, groups * width),
          part(lengths, groups),
          groups,
          width,
          unit,
          scores.empty() ? scores : part(scores, groups * width)};
}

void ChosenKeys::pad(std::int64_t tokens) {
  const std::int64_t columns = groups * width;
  indices.resize(to_size(tokens * columns), -1);
  lengths.resize(to_size(tokens * groups), 0);
  if (!scores.empty()) scores.resize(to_size(tokens * columns), kNoScore);
}

ChosenKeys choose_keys(const AttentionLayer& layer, std::int64_t position, std::int64_t queries,
                       std::uint64_t seed) {
  const Selection& rule = layer.selection;
  ChosenKeys chosen{.groups = layer.selection_groups(), .width = rule.topk, .unit = rule.unit};
  const std::int64_t lists = queries * chosen.groups;
  chosen.indices.resize(to_size(lists * rule.topk));
  chosen.lengths.resize(to_size(lists));
  for (std::int64_t i = 0; i < lists; ++i) {
    const std::int64_t own = position + i / chosen.groups;
    const auto group = static_cast<std::uint64_t>(i % chosen.groups);
    std::vector<std::int32_t> list;
    if (own >= 0 && i % chosen.groups >= rule.window_heads) {
      list = ListOfUnits(rule, own).chosen(combine(seed, group));
    }
    const auto columns =
        std::span(chosen.indices).subspan(to_size(i * rule.topk), to_size(rule.topk));
    chosen.lengths[to_size(i)] = place(rule, list, columns);
  }
  draw_scores(rule, position, seed, chosen);
  return chosen;
}

void draw_scores(const Selection& rule, std::int64_t position, std::uint64_t seed,
                 ChosenKeys& chosen) {
  if (!rule.weighs_units()) return;
  constexpr double kMostFromMiddle = 2;  // the weights of two units differ by e^4 at most
  const double middle = std::log(static_cast<double>(rule.unit));
  const std::size_t columns = to_size(chosen.groups * chosen.width);
  for (std::size_t i = 0; i < chosen.indices.size(); ++i) {
    const std::uint64_t token = static_cast<std::uint64_t>(position) + i / columns;
    const std::uint64_t bits = combine(combine(combine(seed, 3), token), i % columns);
    const double share = static_cast<double>(bits >> 11) * 0x1p-53;
    const double score = middle + kMostFromMiddle * (2 * share - 1);
    chosen.scores.push_back(chosen.indices[i] < 0 ? kNoScore : static_cast<float>(score));
  }
}

}  // namespace attnbench
