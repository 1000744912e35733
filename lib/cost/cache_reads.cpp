// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cache_reads.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/key_set.h"
#include "lib/scenario/prefix_tree.h"

namespace attnbench {
namespace {

/// The parts of `runs` in [begin, end).
std::vector<KeyRun> clipped(std::vector<KeyRun> runs, std::int64_t begin, std::int64_t end) {
  for (KeyRun& run : runs) run = {std::max(run.begin, begin), std::min(run.end, end)};
  return united(std::move(runs));
}

/// Compressed rows, behind `tokens` among a request's keys, begin a page of their own.
std::vector<KeyRun> rows_apart(std::span<const KeyRun> keys, std::int64_t tokens,
                               std::int64_t page) {
  const std::int64_t shift = round_up(tokens, page) - tokens;
  std::vector<KeyRun> apart;
  for (const KeyRun& run : keys) {
    apart.push_back({run.begin, std::min(run.end, tokens)});
    apart.push_back({std::max(run.begin, tokens) + shift, run.end + shift});
  }
  return united(std::move(apart));
}

/// Pages of the request that hold keys in reach of its queries, or chosen ones.
std::int64_t pages_read(const Case& c, const Request& r, const KeySet& keys) {
  const std::int64_t page = c.kv_cache.page_size;
  if (!c.layer.gathers_keys()) {
    return r.q_len == 0 ? 0 : ceil_div(r.kv_len, page) - keys.first_in_reach() / page;
  }
  std::vector<KeyRun> pages = keys.seen();
  if (c.layer.compress_ratio > 0) pages = rows_apart(pages, r.kv_len, page);
  for (KeyRun& run : pages) run = {run.begin / page, ceil_div(run.end, page)};
  return count_keys(united(std::move(pages)));
}

/// Keys that some query sees by some of so many lists.
std::vector<KeyRun> seen_by_lists(const KeySet& keys, int first, int count) {
  std::vector<KeyRun> seen;
  for (int list = first; list < first + count; ++list) {
    std::ranges::copy(keys.seen_by_group(list), std::back_inserter(seen));
  }
  return united(std::move(seen));
}

}  // namespace

Reads reads_of(const Case& c) {
  const int lists = std::max(c.layer.selection_groups() / c.layer.heads_kv, 1);  // of a KV head
  const int groups = c.layer.selection_groups() / lists;  // of KV heads that read the same rows
  const std::int64_t heads = c.layer.heads_kv / groups;
  // By group and prefix.
  std::vector<std::vector<KeyRun>> shared(to_size(groups) * c.prefixes.size());
  Reads reads;
  for (const Request& r : c.requests) {
    const KeySet keys = key_set_of(c.layer, r);
    reads.table_entries += c.kv_cache.is_ragged() ? 1 : pages_read(c, r, keys);
    const std::int64_t own_begin =
        r.shared_prefix < 0 ? 0 : whole_pages(r.shared_len, c.kv_cache.manager_page());
    for (int group = 0; group < groups; ++group) {
      const std::vector<KeyRun> seen = seen_by_lists(keys, group * lists, lists);
      for (int list = group * lists; list < (group + 1) * lists; ++list) {
        reads.pairs += keys.pairs(list);
      }
      reads.streamed_rows += Count(heads) * count_keys(seen);
      for (int p = r.shared_prefix; p >= 0; p = c.prefixes[to_size(p)].parent) {
        const KeyRun pages = own_whole_pages(c.prefixes, p, c.kv_cache.manager_page());
        for (const KeyRun& run : clipped(seen, pages.begin, std::min(own_begin, pages.end))) {
          shared[to_size(group) * c.prefixes.size() + to_size(p)].push_back(run);
        }
      }
      reads.unique_rows +=
          Count(heads) * count_keys(clipped(seen, own_begin, c.layer.cached_keys(r.kv_len)));
    }
  }
  for (std::vector<KeyRun>& runs : shared) {
    reads.unique_rows += Count(heads) * count_keys(united(std::move(runs)));
  }
  return reads;
}

}  // namespace attnbench
