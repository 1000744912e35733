// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/pipeline_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/count.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/built_arrays.h"
#include "lib/parts/index_write_part.h"
#include "lib/parts/indexer_part.h"
#include "lib/parts/select_part.h"

namespace attnbench {
namespace {

std::vector<float> as_scores(std::span<const std::int32_t> got) {
  std::vector<float> scores;
  scores.reserve(got.size());
  for (const std::int32_t bits : got) scores.push_back(std::bit_cast<float>(bits));
  return scores;
}

/// The request of a row of padding.
constexpr std::int64_t kPadding = -1;

/// The tail of a query token's lists; -1: none.
std::int32_t tail_of(const Case& c, std::int64_t request, std::int64_t token) {
  if (request == kPadding) return -1;
  const Selection& rule = c.layer.selection;
  const std::int64_t keys = c.requests[to_size(request)].prefix_len() + token + 1;
  const bool is_none = keys < 1 || (rule.tail == SelectionTail::kOpen && keys % rule.unit == 0);
  return is_none ? -1 : narrow_i32((keys - 1) / rule.unit);
}

void write_tails(const Case& c, Device& device, std::byte* to) {
  std::vector<std::int32_t> tails;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    for (std::int64_t token = 0; token < c.requests[to_size(r)].q_len; ++token) {
      tails.push_back(tail_of(c, r, token));
    }
  }
  tails.resize(to_size(tokens_with_padding(c)), -1);
  device.copy_from_host(to, tails.data(), std::span(tails).size_bytes());
}

/// A list that may have a tail; without it, all of the list is selected.
std::string fault_of_whole_list(const Case& c, std::int64_t index, const ScoreRow& row,
                                std::span<const float> scores, const SelectedList& list) {
  if (!c.layer.selection.has_tail()) return fault_of_list(c, index, scores, list);
  const std::int32_t tail = tail_of(c, row.request, row.token);
  const std::size_t last = list.indices.size() - 1, taken = std::min(scores.size(), last);
  const bool in_front = list.is_padded_in_front;
  const std::size_t column = !in_front ? taken : tail < 0 ? last - taken : last;
  const std::int32_t found = list.indices[column];
  if (found == kUnselected) return fault_of_list(c, index, scores, list);
  const bool is_before = in_front && tail < 0;
  if (found != tail) {
    return fmt::format("row {} has {} in column {}, {} {} selected units; it should be {}{}", index,
                       found, column, is_before ? "before" : "behind", taken, tail,
                       tail < 0 ? "" : ", the query's own");
  }
  std::vector<std::int32_t> selected(list.indices.begin(), list.indices.end());
  selected.erase(selected.begin() + static_cast<std::ptrdiff_t>(column));
  const bool is_counted = (tail >= 0 || in_front) && list.length != kUnbuilt;
  return fault_of_list(c, index, scores,
                       {.indices = selected,
                        .length = list.length - (is_counted ? 1 : 0),
                        .is_padded_in_front = in_front});
}

/// `got` are the logits, the lists and their lengths. Right logits are finite where they are read,
/// or -inf of a stale unit.
std::string fault_of_stages(const Case& c, const PartArrays& logits, const Contents& contents,
                            std::span<const std::int32_t> got) {
  const std::size_t scored = to_size(logits.arrays.front().elements());
  std::string fault = logits.fault_of(contents, got.first(scored));
  if (!fault.empty()) return fault;
  const std::int64_t groups = c.layer.selection_groups();
  std::vector<ScoreRow> rows = score_rows(c);
  rows.resize(to_size((c.q_tokens() + c.padding_q_tokens()) * groups), {.request = kPadding});
  const std::int64_t all_rows = tokens_with_padding(c) * groups;
  const std::size_t columns = to_size(score_columns(c));
  const auto lists = got.subspan(scored);
  return first_fault(std::ssize(rows), [&](std::int64_t i) {
    const std::size_t row = to_size(i);
    const auto scores = got.subspan(row * columns, to_size(rows[row].units));
    return fault_of_whole_list(c, i, rows[row], as_scores(scores),
                               list_of_row(c, lists, all_rows, i));
  });
}

/// The row of which a timed sample shows all logits and the list; none where it sees nothing.
std::vector<WatchedRow> whole_row(const Contents& sample) {
  std::vector<WatchedRow> rows = watched_score_rows(sample, 1);
  const bool has_tail = sample.of_case().layer.selection.has_tail();
  std::erase_if(rows, [=](const WatchedRow& each) { return each.row.units == 0 && !has_tail; });
  return rows;
}

}  // namespace

std::vector<PartInput> pipeline_inputs(const Case& c, const BatchLayout& layout) {
  std::vector<PartInput> inputs = indexer_inputs(c, layout);
  if (c.layer.selection.has_tail()) {
    inputs.push_back(
        {.name = "tails",
         .bytes = tokens_with_padding(c) * static_cast<std::int64_t>(sizeof(std::int32_t)),
         .is_parameter = true,
         .write = [&c](const Contents&, Device& device, std::byte* to) {
           write_tails(c, device, to);
         }});
  }
  if (!writes_index(c.step)) return inputs;
  for (PartInput& each : index_write_inputs(c, layout)) inputs.push_back(std::move(each));
  return inputs;
}

const std::int32_t* tails_in(const Case& c, std::span<std::byte* const> memory) {
  if (!c.layer.selection.has_tail()) return nullptr;
  // A Device's memory is aligned for any type.
  const std::size_t behind = writes_index(c.step) ? count_of_index_write_inputs(c) : 0;
  const void* const tails = memory[memory.size() - behind - 1];
  return static_cast<const std::int32_t*>(tails);
}

IndexWrite index_write_in(const Case& c, std::int64_t pages, std::span<std::byte* const> memory) {
  if (!writes_index(c.step)) return {};
  return index_write_at(c, pages, index_cache_in(c, memory),
                        memory.last(count_of_index_write_inputs(c)));
}

PartArrays pipeline_arrays(const Case& c) {
  PartArrays logits = indexer_arrays(c), lists = select_arrays(c);
  PartArrays part;
  part.arrays = logits.arrays;
  part.arrays.insert(part.arrays.end(), lists.arrays.begin(), lists.arrays.end());
  part.judged = logits.judged + lists.judged;
  part.most_watched = logits.most_watched + score_columns(c) + c.layer.selection.columns() + 1;
  part.fault_of = [&c, logits](const Contents& contents, std::span<const std::int32_t> got) {
    return fault_of_stages(c, logits, contents, got);
  };
  part.watched = [of_logits = logits.watched](const Contents& sample) {
    const std::int64_t columns = score_columns(sample.of_case());
    std::vector<WatchedElements> watched;
    for (const WatchedRow& each : whole_row(sample)) {
      if (each.row.units > 0) {
        watched = {{.array = 0, .first = each.index * columns, .count = each.row.units}};
      }
      watch_list(sample.of_case(), each.index, kPipelineLists, watched);
    }
    const std::vector<WatchedElements> more = of_logits(sample);
    watched.insert(watched.end(), more.begin(), more.end());
    return watched;
  };
  part.fault_of_watched = [of_logits = logits.fault_of_watched](const Contents& sample,
                                                                std::span<const std::int32_t> got) {
    std::string of_list;
    for (const WatchedRow& each : whole_row(sample)) {
      const auto scores = got.first(to_size(each.row.units));
      got = got.subspan(scores.size());
      const SelectedList list = watched_list(sample.of_case(), got);
      of_list =
          fault_of_whole_list(sample.of_case(), each.index, each.row, as_scores(scores), list);
    }
    std::string of_scores = of_logits(sample, got);
    return of_scores.empty() ? of_list : of_scores;
  };
  return part;
}

std::int64_t pipeline_list_bytes(const Case& c) {
  return (Count(tokens_with_padding(c)) * c.layer.selection_groups() *
          (c.layer.selection.columns() + 1) * static_cast<std::int64_t>(sizeof(std::int32_t)))
      .value();
}

}  // namespace attnbench
