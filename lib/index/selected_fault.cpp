// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/selected_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "lib/index/built_arrays.h"

namespace attnbench {
namespace {

/// The highest score that is left out above the lowest one that is taken.
std::string fault_of_scores(std::string_view row, std::string_view unit,
                            std::span<const float> scores, std::span<const std::int32_t> list,
                            const std::vector<bool>& taken) {
  const auto score = [&](std::int32_t id) { return scores[static_cast<std::size_t>(id)]; };
  const std::int32_t lowest = *std::ranges::min_element(list, {}, score);
  std::int32_t best = -1;
  for (std::int32_t id = 0; id < std::ssize(scores); ++id) {
    const bool is_left = !taken[static_cast<std::size_t>(id)];
    if (is_left && (best < 0 || score(id) > score(best))) best = id;
  }
  const auto newest = static_cast<std::int32_t>(scores.size() - 1);
  const bool ignores_newest = !taken.back() && score(newest) > score(lowest);
  if (ignores_newest) best = newest;
  if (best < 0 || score(best) <= score(lowest)) return {};
  return fmt::format("{} {} {} {} (score {}) and takes {} {} (score {})", row,
                     ignores_newest ? "ignores the newest" : "leaves out", unit, best, score(best),
                     unit, lowest, score(lowest));
}

}  // namespace

std::string fault_of_selected(std::string_view row, std::string_view unit,
                              std::span<const float> scores, const SelectedList& list) {
  const auto unwritten = std::ranges::find(list.indices, kUnselected);
  if (unwritten != list.indices.end()) {
    return fmt::format("column {} of {} was not written", unwritten - list.indices.begin(), row);
  }
  const auto candidates = static_cast<std::size_t>(std::ranges::count_if(
      scores, [](float score) { return score != -std::numeric_limits<float>::infinity(); }));
  const std::size_t wanted = std::min(list.indices.size(), candidates);
  const std::size_t left = list.indices.size() - wanted;
  const bool in_front = list.is_padded_in_front;
  const auto chosen = in_front ? list.indices.last(wanted) : list.indices.first(wanted);
  const auto rest = in_front ? list.indices.first(left) : list.indices.last(left);
  std::vector<bool> taken(scores.size());
  for (const std::int32_t id : chosen) {
    if (id == -1) {
      const auto missing = std::ranges::count(chosen, -1);
      return fmt::format("{} takes {} {}s; it should take {}", row, std::ssize(chosen) - missing,
                         unit, wanted);
    }
    if (id < 0 || id >= std::ssize(scores)) {
      return fmt::format("{} takes {} {}; it has {}", row, unit, id, scores.size());
    }
    if (taken[static_cast<std::size_t>(id)]) {
      return fmt::format("{} takes {} {} twice", row, unit, id);
    }
    taken[static_cast<std::size_t>(id)] = true;
  }
  const auto behind = std::ranges::find_if(rest, [](std::int32_t id) { return id != -1; });
  if (behind != rest.end()) {
    const std::ptrdiff_t column = behind - rest.begin() + (in_front ? 0 : std::ssize(chosen));
    return fmt::format("{} has {} in column {}, {} its {} {}s; it should be -1", row, *behind,
                       column, in_front ? "before" : "behind", wanted, unit);
  }
  const std::size_t counted = in_front ? list.indices.size() : wanted;
  if (list.length != static_cast<std::int64_t>(counted) && list.length != kUnbuilt) {
    return fmt::format("topk_length of {} is {}; it should be {}", row, list.length, counted);
  }
  if (wanted == scores.size() || wanted == 0) return {};
  return fault_of_scores(row, unit, scores, chosen, taken);
}

}  // namespace attnbench
