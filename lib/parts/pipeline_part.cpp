// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/pipeline_part.h"

#include <bit>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/count.h"
#include "lib/base/int_math.h"
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

/// `got` are the logits, the lists and their lengths. Right logits are finite where they are read,
/// or -inf of a stale unit.
std::string fault_of_stages(const Case& c, const PartArrays& logits, const Contents& contents,
                            std::span<const std::int32_t> got) {
  const std::size_t scored = to_size(logits.arrays.front().elements());
  std::string fault = logits.fault_of(contents, got.first(scored));
  if (!fault.empty()) return fault;
  std::vector<ScoreRow> rows = score_rows(c);
  // Padding sees nothing.
  rows.resize(to_size(tokens_with_padding(c) * c.layer.selection_groups()));
  const std::size_t columns = to_size(score_columns(c));
  const auto lists = got.subspan(scored);
  return first_fault(std::ssize(rows), [&](std::int64_t i) {
    const std::size_t row = to_size(i);
    return fault_of_list(c, i, as_scores(got.subspan(row * columns, to_size(rows[row].units))),
                         list_of_row(c, lists, std::ssize(rows), i));
  });
}

/// The row of which a timed sample shows all logits and the list; none where it sees nothing.
std::vector<WatchedRow> whole_row(const Contents& sample) {
  std::vector<WatchedRow> rows = watched_score_rows(sample, 1);
  std::erase_if(rows, [](const WatchedRow& each) { return each.row.units == 0; });
  return rows;
}

}  // namespace

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
      watched = {{.array = 0, .first = each.index * columns, .count = each.row.units}};
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
      of_list = fault_of_list(sample.of_case(), each.index, as_scores(scores), list);
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
