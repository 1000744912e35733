// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/needles.h"

#include <algorithm>

#include "lib/batch/chosen_keys.h"
#include "lib/batch/multi_item.h"

namespace attnbench {
namespace {

void add_if_inside(std::vector<std::int64_t>& positions, std::int64_t position, std::int64_t begin,
                   std::int64_t end) {
  if (position >= begin && position < end) positions.push_back(position);
}

void sort_unique(std::vector<std::int64_t>& positions) {
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

std::vector<std::int64_t> run_needles(std::int64_t begin, std::int64_t end,
                                      std::int64_t page_size) {
  std::vector<std::int64_t> positions;
  const std::int64_t middle = begin + (end - begin) / 2;
  constexpr std::int64_t kSplit =
      256;  // the tile of deterministic split-KV modes; others divide it
  for (const std::int64_t position :
       {begin, end - 1, page_size - 1, page_size, middle / page_size * page_size - 1,
        middle / page_size * page_size, middle / kSplit * kSplit - 1, middle / kSplit * kSplit}) {
    add_if_inside(positions, position, begin, end);
  }
  sort_unique(positions);
  return positions;
}

std::vector<std::int64_t> request_needles(const Case& c, const Request& request) {
  const std::int64_t begin = request.shared_len, end = c.layer.cached_keys(request.kv_len);
  std::vector<std::int64_t> positions = run_needles(begin, end, c.kv_cache.page_size);
  const std::int64_t first_row = request.prefix_len(), last_row = request.kv_len - 1;
  for (const std::int64_t position :
       {first_row - 1, first_row, first_row + 1, first_row + request.q_len / 2, last_row}) {
    add_if_inside(positions, position, begin, end);
  }
  if (c.layer.sliding_window_size >= 0) {
    for (const std::int64_t row : {first_row, last_row}) {
      add_if_inside(positions, row - c.layer.sliding_window_size, begin, end);
      add_if_inside(positions, row - c.layer.sliding_window_size - 1, begin, end);
      if (c.layer.causal) continue;
      add_if_inside(positions, row + c.layer.sliding_window_size, begin, end);
      add_if_inside(positions, row + c.layer.sliding_window_size + 1, begin, end);
    }
  }
  if (c.layer.attention_chunk > 0) {
    // The key before a chunk is forbidden to all of its queries, the last one of a chunk to those
    // of the next.
    for (const std::int64_t row : {first_row, first_row + c.layer.attention_chunk, last_row}) {
      const std::int64_t first = chunk_begin(c.layer.attention_chunk, row);
      add_if_inside(positions, first - 1, begin, end);
      add_if_inside(positions, first, begin, end);
    }
  }
  if (c.layer.dual_chunk.exists()) {
    // On both sides of a chunk's begin a query meets keys in two of its forms.
    const std::int64_t step = c.layer.dual_chunk.step();
    for (const std::int64_t row : {first_row, first_row + step, last_row}) {
      const std::int64_t own = chunk_begin(step, row);
      for (const std::int64_t border : {own, own - step}) {
        add_if_inside(positions, border - 1, begin, end);
        add_if_inside(positions, border, begin, end);
      }
    }
  }
  // Of the lists of the first and the last query: units at both ends and in the middle, and the
  // keys beside them, which seldom are chosen, too.
  for (const std::int64_t token : {std::int64_t{0}, request.q_len - 1}) {
    if (!c.layer.selection.exists() || request.q_len == 0) break;
    const ChosenKeys chosen = lists_of(c.layer, request, token, 1);
    const auto list = chosen.list(0, 0);
    for (std::size_t at : {std::size_t{0}, list.size() / 2, list.size() - 1}) {
      if (at >= list.size() || list[at] < 0) continue;
      const std::int64_t size = c.layer.selection.keys_of_entry();
      const std::int64_t unit = (c.layer.compress_ratio > 0 ? request.kv_len : 0) + list[at] * size;
      for (const std::int64_t key : {unit - 1, unit, unit + size - 1, unit + size}) {
        add_if_inside(positions, key, begin, end);
      }
    }
  }
  if (c.layer.compress_ratio > 0) {
    // The last row that a query sees, and the first one that is not complete for it.
    for (const std::int64_t row : {first_row, last_row}) {
      const std::int64_t behind = request.kv_len + c.layer.compressed_rows(row + 1);
      add_if_inside(positions, behind - 1, begin, end);
      add_if_inside(positions, behind, begin, end);
    }
  }
  if (const std::int64_t window = c.layer.selection.window; window > 0) {
    for (const std::int64_t row : {first_row, last_row}) {
      add_if_inside(positions, row - window, begin, end);
      add_if_inside(positions, row - window + 1, begin, end);
    }
  }
  // Keys of items are forbidden to the queries of all others, delimiters to all.
  std::int64_t delimiter = end - tokens_of_items(request.items);
  for (const std::int64_t length : request.items) {
    add_if_inside(positions, delimiter - 1, begin, end);
    add_if_inside(positions, delimiter, begin, end);
    add_if_inside(positions, delimiter + 1, begin, end);
    delimiter += length + 1;
  }
  // A span's last key is seen by its first query; the keys beside a span are seen as elsewhere.
  for (const KeyRun& span : request.spans) {
    for (const std::int64_t edge : {span.begin, span.end}) {
      add_if_inside(positions, edge - 1, begin, end);
      add_if_inside(positions, edge, begin, end);
    }
  }
  if (c.layer.causal_block > 1) {
    // The last key of a block is seen by its queries, the one behind by none of them.
    for (const std::int64_t edge :
         {first_row + c.layer.causal_block,
          first_row + (request.q_len - 1) / c.layer.causal_block * c.layer.causal_block}) {
      add_if_inside(positions, edge - 1, begin, end);
      add_if_inside(positions, edge, begin, end);
    }
  }
  sort_unique(positions);
  return positions;
}

}  // namespace attnbench
