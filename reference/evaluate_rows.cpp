// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/worth_a_team.h"
#include "reference/attention_rows.h"
#include "reference/delta_net_rows.h"
#include "reference/memory_need.h"
#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

/// Rows that share one regeneration of K and V. `rows` indexes the caller's rows.
struct Group {
  std::int64_t request = 0;
  int kv_head = 0;
  std::vector<std::size_t> rows;
};

/// Bounds the logits that one group keeps to 64 MiB, and to 16 rows however many keys there are.
constexpr std::int64_t kLogitsPerGroup = 8 << 20;
constexpr std::int64_t kFewestRows = 16;
/// So many groups or more share the rows, even where they are all of one request and head: with
/// five fills there is work for 15 threads. More would make K and V again for too few rows.
constexpr std::size_t kFewestGroups = 3;

std::int64_t keys_of(const Case& c, std::int64_t request) {
  return c.layer.cached_keys(c.requests[static_cast<std::size_t>(request)].kv_len);
}

/// Cuts the rows into groups. Depends on the rows only, never on the number of threads, so that
/// the same products are summed in the same order everywhere.
std::vector<Group> group_rows(const Case& c, std::span<const RowId> rows, std::size_t variants) {
  const int group_size = c.layer.group_size();
  const auto key_of = [&](const RowId& row) {
    return std::tuple(row.request, row.head / group_size, row.token, row.head);
  };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t x, std::size_t y) { return key_of(rows[x]) < key_of(rows[y]); });

  const std::size_t share = std::max((rows.size() + kFewestGroups - 1) / kFewestGroups,
                                     static_cast<std::size_t>(kFewestRows));
  std::vector<Group> groups;
  for (const std::size_t index : order) {
    const RowId& row = rows[index];
    const int kv_head = row.head / group_size;
    const std::int64_t keys = std::max<std::int64_t>(keys_of(c, row.request), 1);
    const auto logits = static_cast<std::size_t>(std::max(kLogitsPerGroup / keys, kFewestRows));
    const std::size_t most = std::max<std::size_t>(std::min(logits, share) / variants, 1);
    if (groups.empty() || groups.back().request != row.request ||
        groups.back().kv_head != kv_head || groups.back().rows.size() >= most) {
      groups.push_back({row.request, kv_head, {}});
    }
    groups.back().rows.push_back(index);
  }
  return groups;
}

/// Rows of K or V as the kernels must see them: stored values widened, times their scales, which
/// `read_row` returns.
template <typename ReadRow>
LoadRows dequantised(ReadRow read_row) {
  return [read_row](std::int64_t begin, Eigen::Ref<RowMatrix> block) {
    Eigen::RowVectorXf stored(block.cols());
    for (Eigen::Index j = 0; j < block.rows(); ++j) {
      const RowScale scale =
          read_row(begin + j, std::span(stored.data(), static_cast<std::size_t>(stored.size())));
      if (scale.blocked == 0) {
        block.row(j) = stored.cast<double>() * static_cast<double>(scale.all);
        continue;
      }
      for (Eigen::Index dim = 0; dim < stored.size(); ++dim) {
        block(j, dim) = static_cast<double>(stored(dim)) *
                        static_cast<double>(scale.at(static_cast<std::uint32_t>(dim)));
      }
    }
  };
}

/// ALiBi's slopes as its authors' code gives them, for all heads of a model: a geometric sequence
/// for a power of two; else that of the power below, and every other slope of the power above.
std::vector<double> alibi_slopes(int heads) {
  std::vector<double> slopes;
  if (std::has_single_bit(static_cast<unsigned>(heads))) {
    for (int head = 1; head <= heads; ++head) slopes.push_back(std::exp2(-8.0 * head / heads));
    return slopes;
  }
  const auto below = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  slopes = alibi_slopes(below);
  const std::vector<double> above = alibi_slopes(2 * below);
  for (std::size_t i = 0; std::ssize(slopes) < heads; i += 2) slopes.push_back(above[i]);
  return slopes;
}

/// SGLang's Triton kernels (xai_temperature_len) count a query's index in its sequence, which of a
/// draft tree's node is its place behind the prefix, not its depth.
double temperature_of(const AttentionLayer& layer, const Request& request, std::int64_t token) {
  const auto place = static_cast<double>(request.prefix_len() + token);
  const auto len = static_cast<double>(layer.temperature_len);
  return len > 0 && place > len ? std::log2(place) / std::log2(len) : 1;
}

/// Dual-chunk attention: keys of the query's own chunk meet its first form, those of the chunk
/// before the second, older ones the third.
void set_forms(const DualChunk& dual, const Request& request, std::int64_t token, QueryRow& row) {
  const std::int64_t step = dual.chunk_size - dual.local_size;
  const std::int64_t own = std::max<std::int64_t>(request.prefix_len() + token, 0);
  row.first_form_from = own / step * step;
  row.second_form_from = std::max<std::int64_t>(row.first_form_from - step, 0);
}

VisibleKeys kept_keys(VisibleKeys seen, const RowVariant& variant) {
  if (variant.keeps == nullptr) return seen;
  std::vector<VisibleKeys::Key> keys;
  seen.for_each_in(0, std::numeric_limits<std::int64_t>::max(),
                   [&](VisibleKeys::Key key) { keys.push_back(key); });
  VisibleKeys kept;
  for (std::int64_t number = 0; number < std::ssize(keys); ++number) {
    if (!variant.keeps(number, std::ssize(keys))) continue;
    kept.branch.push_back(keys[static_cast<std::size_t>(number)]);
  }
  return kept;
}

/// The variants of the group's rows, those of a row one behind the other.
std::vector<ReferenceRow> evaluate_group(const Case& c, const Contents& contents,
                                         std::span<const RowId> ids, const Group& group,
                                         std::span<const RowVariant> variants) {
  const AttentionLayer& layer = c.layer;
  const Request& request = c.requests[static_cast<std::size_t>(group.request)];
  RowMatrix queries(static_cast<Eigen::Index>(group.rows.size() * variants.size()),
                    layer.query_dim());
  Eigen::RowVectorXf stored(layer.query_dim());
  const std::vector<double> slopes =
      layer.has_alibi ? alibi_slopes(layer.heads_q * layer.ranks) : std::vector<double>();
  std::vector<QueryRow> rows;
  for (const std::size_t index : group.rows) {
    const RowId& id = ids[index];
    contents.q_row(id.request, id.token, id.head,
                   std::span(stored.data(), static_cast<std::size_t>(stored.size())));
    const auto scale = static_cast<double>(contents.q_scale(id.request, id.token, id.head));
    QueryRow row;
    row.visible = keys_seen_by(layer, request, id.token, id.head);
    row.position = query_position(request, id.token);
    row.temperature = temperature_of(layer, request, id.token);
    if (layer.has_alibi) row.alibi_slope = slopes[static_cast<std::size_t>(id.head)];
    if (layer.dual_chunk.exists()) set_forms(layer.dual_chunk, request, id.token, row);
    if (layer.has_sinks) row.sink = static_cast<double>(contents.sink(id.head));
    row.sink_in_lse = layer.sink_in_lse();
    row.units = units_weighed_by(layer, request, id.token, id.head);
    for (const RowVariant& variant : variants) {
      queries.row(static_cast<Eigen::Index>(rows.size())) =
          stored.cast<double>() * (variant.logit_factor * scale);
      QueryRow& added = rows.emplace_back(row);
      added.visible = kept_keys(row.visible, variant);
      if (!variant.plain) continue;
      added.sink.reset();
      added.alibi_slope = 0;
    }
  }
  const auto read_key = [&](std::int64_t position, std::span<float> row) {
    contents.k_row(group.request, position, group.kv_head, row);
    return contents.k_scale(group.request, position, group.kv_head);
  };
  const auto read_value = [&](std::int64_t position, std::span<float> row) {
    contents.v_row(group.request, position, group.kv_head, row);
    return contents.v_scale(group.request, position, group.kv_head);
  };
  std::vector<ReferenceRow> results = attend_rows(
      queries, rows,
      {.scale = layer.scale, .logit_cap = layer.logit_cap, .query_forms = layer.query_variants()},
      layer.head_dim_v, dequantised(read_key), dequantised(read_value));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].id = ids[group.rows[i / variants.size()]];
  }
  return results;
}

void check_rows(const Case& c, std::span<const RowId> rows) {
  for (const RowId& row : rows) {
    expects(row.request >= 0 && row.request < static_cast<std::int64_t>(c.requests.size()) &&
                row.token >= 0 &&
                row.token < c.requests[static_cast<std::size_t>(row.request)].q_len &&
                row.head >= 0 && row.head < c.layer.heads_out() && row.state_row < 0,
            "the row is one of the case's");
  }
}

/// Of a layer with keys: for each contents, the variants of each row one behind the other.
std::vector<std::vector<ReferenceRow>> evaluate_keys(const Case& c,
                                                     std::span<const Contents> contents,
                                                     std::span<const RowId> rows,
                                                     std::span<const RowVariant> variants) {
  check_rows(c, rows);
  const std::size_t count = variants.size();
  std::vector<Group> groups = group_rows(c, rows, count);
  const auto keys_of_group = [&](const Group& group) { return keys_of(c, group.request); };
  // The longest come first, so that no thread begins one when the others are done.
  std::ranges::stable_sort(groups, std::ranges::greater{}, keys_of_group);
  std::vector<std::vector<ReferenceRow>> results(contents.size(),
                                                 std::vector<ReferenceRow>(rows.size() * count));
  std::int64_t keys = 0;
  for (const Group& group : groups) keys += keys_of_group(group);
  const std::int64_t elements =
      std::ssize(contents) * keys * (c.layer.head_dim_qk + c.layer.head_dim_v);
  std::exception_ptr failure;  // must not leave the parallel region on its own
#pragma omp parallel for schedule(dynamic) if (elements > kWorthATeam)
  for (std::size_t task = 0; task < contents.size() * groups.size(); ++task) {
    try {
      const std::size_t fill = task % contents.size();
      const Group& group = groups[task / contents.size()];
      std::vector<ReferenceRow> part = evaluate_group(c, contents[fill], rows, group, variants);
      for (std::size_t i = 0; i < part.size(); ++i) {
        results[fill][group.rows[i / count] * count + i % count] = std::move(part[i]);
      }
    } catch (...) {
#pragma omp critical(attnbench_reference_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return results;
}

}  // namespace

std::int64_t memory_need(const Case& c, int threads, std::int64_t fills) {
  if (c.layer.is_recurrent()) return delta_net_memory_need(c, threads);
  std::int64_t longest = 1;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    longest = std::max(longest, keys_of(c, r));
  }
  const auto groups = static_cast<std::int64_t>(c.requests.size()) * c.layer.heads_kv;
  const std::int64_t logits = std::max(kLogitsPerGroup, kFewestRows * longest);
  return std::min<std::int64_t>(threads, fills * groups) * logits *
         static_cast<std::int64_t>(sizeof(double));
}

std::vector<ReferenceRow> evaluate_rows(const Case& c, const Contents& contents,
                                        std::span<const RowId> rows) {
  return std::move(evaluate_rows(c, std::span(&contents, 1), rows).front());
}

std::vector<std::vector<ReferenceRow>> evaluate_rows(const Case& c,
                                                     std::span<const Contents> contents,
                                                     std::span<const RowId> rows) {
  if (!c.layer.is_recurrent()) {
    const RowVariant as_it_is;
    return evaluate_keys(c, contents, rows, {&as_it_is, 1});
  }
  std::vector<std::vector<ReferenceRow>> results;
  for (const Contents& each : contents) results.push_back(evaluate_delta_net_rows(c, each, rows));
  return results;
}

std::vector<ReferenceRow> evaluate_variants(const Case& c, const Contents& contents,
                                            std::span<const RowId> rows,
                                            std::span<const RowVariant> variants) {
  expects(!c.layer.is_recurrent(), "the layer has keys");
  return std::move(evaluate_keys(c, std::span(&contents, 1), rows, variants).front());
}

}  // namespace attnbench::reference
