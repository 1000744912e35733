// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a large case the reference evaluates.
//
// A row costs little beside the K and V that it looks at, and those are made anew per (request, KV
// head). So the rows of a request stay on few KV heads: on ceil(Hkv / requests) of them, in
// rotation, so that all requests together meet every KV head; further KV heads follow only when
// those are used up. Inside a KV head the query heads rotate from row to row. The budget is shared
// out evenly; what a short request cannot use goes to the longer ones. Within a request the
// dangerous tokens come first, then seeded random ones.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "lib/base/counter_hash.h"
#include "reference/delta_net_rows.h"
#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

constexpr std::int64_t kSplit = 256;  // tile of deterministic split-KV modes; others divide it

/// A list without repetitions that keeps the order of arrival.
class TokenList {
 public:
  TokenList(std::int64_t q_len, std::int64_t most) : q_len_(q_len), most_(std::min(most, q_len)) {}

  void add(std::int64_t token) {
    if (full() || token < 0 || token >= q_len_ || !known_.insert(token).second) return;
    tokens_.push_back(token);
  }
  [[nodiscard]] bool full() const { return static_cast<std::int64_t>(tokens_.size()) >= most_; }
  [[nodiscard]] const std::vector<std::int64_t>& tokens() const { return tokens_; }

 private:
  std::int64_t q_len_, most_;
  std::vector<std::int64_t> tokens_;
  std::set<std::int64_t> known_;
};

/// Up to `most` tokens of a request, the likeliest victims of an off-by-one first.
std::vector<std::int64_t> pick_tokens(const Case& c, std::int64_t index, std::int64_t most) {
  const Request& request = c.requests[static_cast<std::size_t>(index)];
  const std::int64_t q_len = request.q_len, prefix = request.prefix_len();
  TokenList list(q_len, most);
  list.add(0);
  list.add(q_len - 1);
  // The mask's edge: a new token that is one row's own key is forbidden to the row before.
  for (const std::int64_t token : {std::int64_t{1}, q_len - 2, q_len / 2, q_len / 2 - 1}) {
    list.add(token);
  }
  // Where there are more queries than keys: the last one that sees none, and the first that does.
  if (prefix < 0) {
    list.add(-prefix - 1);
    list.add(-prefix);
  }
  // The last row whose window still reaches key 0 and the first whose does not; the same for the
  // first new token.
  if (const std::int64_t window = c.layer.sliding_window_size; window >= 0) {
    for (const std::int64_t token : {window - prefix, window - prefix + 1, window, window + 1}) {
      list.add(token);
    }
    // Where it reaches ahead: the first row that sees the last key, and the one before.
    for (const std::int64_t token : {q_len - 1 - window, q_len - 2 - window}) {
      if (!c.layer.causal) list.add(token);
    }
  }
  // The last row before the temperature rises, and the first that is warmer.
  if (const std::int64_t len = c.layer.temperature_len; len > 0) {
    list.add(len - prefix);
    list.add(len + 1 - prefix);
  }
  // Delimiters, which see the prefix alone, and the ends of items.
  std::int64_t delimiter = q_len - 1;
  for (const std::int64_t length : request.items) delimiter -= length + 1;
  for (const std::int64_t length : request.items) {
    for (const std::int64_t token : {delimiter, delimiter + 1, delimiter + length}) list.add(token);
    delimiter += length + 1;
  }
  // The first and the last row of a span, which see as far, and the rows beside them.
  for (const KeyRun& span : request.spans) {
    for (const std::int64_t edge : {span.begin, span.end}) {
      list.add(edge - prefix);
      list.add(edge - 1 - prefix);
    }
  }
  // The last row of a block, which sees no more than its first, and the first of the next.
  if (const std::int64_t block = c.layer.causal_block; block > 1) {
    for (const std::int64_t edge : {block, (q_len - 1) / block * block}) {
      list.add(edge - 1);
      list.add(edge);
    }
  }
  // The last row of a chunk, which sees all of it, and the first of the next, which sees its own
  // key alone; then rows that see exactly up to the end of a page or split, and one key more: the
  // first, the middle one and the last of them.
  // A dual chunk's last row and the next one's first, whose keys meet other forms of the query.
  const std::int64_t dual = c.layer.dual_chunk.exists() ? c.layer.dual_chunk.step() : 0;
  for (const std::int64_t tile : {c.layer.attention_chunk, dual, c.kv_cache.page_size, kSplit}) {
    if (tile < 2) continue;
    const std::int64_t last_key = prefix + q_len - 1;
    for (const std::int64_t key : {prefix + tile, last_key, prefix + q_len / 2}) {
      const std::int64_t begin = key / tile * tile - prefix;
      list.add(begin - 1);
      list.add(begin);
    }
  }
  // The rest: a small request is taken whole, a long one by seeded draws.
  if (most >= q_len) {
    for (std::int64_t token = 0; token < q_len; ++token) list.add(token);
  }
  for (std::uint64_t draw = 0; !list.full(); ++draw) {
    const std::uint64_t bits =
        combine(combine(mix64(c.seed), static_cast<std::uint64_t>(index)), draw);
    list.add(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(q_len)));
  }
  return list.tokens();
}

/// Rows for each request: an even share of the budget, bounded by the rows there are, and never
/// less than its first and last token.
std::vector<std::int64_t> share_out(const Case& c, std::int64_t budget) {
  std::vector<std::size_t> by_size(c.requests.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  const auto rows_of = [&](std::size_t i) { return c.requests[i].q_len * c.layer.heads_q; };
  std::ranges::stable_sort(by_size,
                           [&](std::size_t x, std::size_t y) { return rows_of(x) < rows_of(y); });
  std::vector<std::int64_t> shares(c.requests.size());
  auto waiting = static_cast<std::int64_t>(by_size.size());
  for (const std::size_t i : by_size) {
    const std::int64_t fewest = std::min<std::int64_t>(c.requests[i].q_len, 2);
    shares[i] = std::min(rows_of(i), std::max(budget / waiting, fewest));
    budget = std::max<std::int64_t>(budget - shares[i], 0);
    --waiting;
  }
  return shares;
}

std::vector<RowId> every_row(const Case& c) {
  std::vector<RowId> rows;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    for (std::int64_t token = 0; token < c.requests[r].q_len; ++token) {
      for (int head = 0; head < c.layer.heads_q; ++head) {
        rows.push_back({static_cast<std::int64_t>(r), token, head});
      }
    }
  }
  return rows;
}

std::vector<RowId> chosen_rows(const Case& c, std::int64_t budget) {
  const int heads_kv = c.layer.heads_kv, group_size = c.layer.group_size();
  const auto requests = static_cast<std::int64_t>(c.requests.size());
  const std::int64_t heads_per_request = (heads_kv + requests - 1) / requests;
  const std::vector<std::int64_t> shares = share_out(c, budget);
  std::vector<int> next_query_head(static_cast<std::size_t>(heads_kv), 0);
  std::int64_t next_kv_head = 0;
  std::vector<RowId> rows;
  for (std::int64_t r = 0; r < requests; ++r) {
    std::int64_t left = shares[static_cast<std::size_t>(r)];
    for (std::int64_t visit = 0; left > 0; ++visit) {
      const auto kv_head = static_cast<int>((next_kv_head + visit) % heads_kv);
      const std::int64_t visits = std::max<std::int64_t>(heads_per_request - visit, 1);
      const std::int64_t most = std::max<std::int64_t>(
          left / visits, std::min<std::int64_t>(c.requests[static_cast<std::size_t>(r)].q_len, 2));
      const std::vector<std::int64_t> tokens = pick_tokens(c, r, most);
      const auto available = static_cast<std::int64_t>(tokens.size()) * group_size;
      const std::int64_t take = std::min({most, available, left});
      int& turn = next_query_head[static_cast<std::size_t>(kv_head)];
      // Walks the torus of tokens x query heads along its diagonal, one step aside after each lap,
      // so that tokens and heads are covered evenly and no pair occurs twice.
      const auto count = static_cast<std::int64_t>(tokens.size());
      const std::int64_t lap = std::lcm(count, std::int64_t{group_size});
      for (std::int64_t n = 0; n < take; ++n) {
        const std::int64_t head = (turn + n + n / lap) % group_size;
        rows.push_back({r, tokens[static_cast<std::size_t>(n % count)],
                        kv_head * group_size + static_cast<int>(head)});
      }
      turn = static_cast<int>((turn + take) % group_size);
      left -= take;
    }
    next_kv_head += heads_per_request;
  }
  return rows;
}

}  // namespace

std::vector<RowId> sample_rows(const Case& c, std::int64_t budget) {
  if (c.layer.is_recurrent()) return sample_delta_net_rows(c, budget);
  if (c.q_tokens() == 0) return {};
  const bool all = budget / c.layer.heads_q >= c.q_tokens();
  std::vector<RowId> rows = all ? every_row(c) : chosen_rows(c, budget);
  const auto key_of = [&](const RowId& row) {
    return std::tuple(row.request, row.head / c.layer.group_size(), row.token, row.head);
  };
  std::ranges::sort(rows, {}, key_of);
  return rows;
}

}  // namespace attnbench::reference
