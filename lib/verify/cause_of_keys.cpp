// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/draft_tree.h"
#include "lib/verify/causes.h"
#include "lib/verify/error_model.h"
#include "lib/verify/likely_cause.h"

namespace attnbench {

double own_q_scale(const Contents& contents, const RowId& id) {
  return static_cast<double>(contents.q_scale(id.request, id.token, id.head));
}

ReferenceRow row_of_keys(const Case& c, const Contents& contents, const RowId& id, double q_scale,
                         reference::VisibleKeys visible, const reference::LoadRows& keys,
                         const reference::LoadRows& values) {
  const AttentionLayer& layer = c.layer;
  std::vector<float> stored(static_cast<std::size_t>(layer.head_dim_qk));
  contents.q_row(id.request, id.token, id.head, stored);
  reference::RowMatrix query(1, layer.head_dim_qk);
  for (std::size_t d = 0; d < stored.size(); ++d) {
    query(0, static_cast<Eigen::Index>(d)) = q_scale * static_cast<double>(stored[d]);
  }
  reference::QueryRow row;
  row.visible = std::move(visible);
  if (layer.has_sinks) row.sink = static_cast<double>(contents.sink(id.head));
  row.sink_in_lse = layer.sink_in_lse();
  return reference::attend_rows(query, {&row, 1},
                                {.scale = layer.scale, .logit_cap = layer.logit_cap},
                                layer.head_dim_v, keys, values)
      .front();
}

bool agrees(const Case& rule, const Numerics& numerics, const ReferenceRow& row,
            std::span<const std::byte> got) {
  const ErrorModel model(rule, numerics);
  const ErrorModel::Row bounds = model.row(row);
  const std::byte* at = got.data();
  const DType dtype = rule.out_dtype();
  for (std::size_t d = 0; d < row.out.size(); ++d, at += size_bytes(dtype)) {
    const double value = static_cast<double>(rule.out_scale) * load(dtype, at);
    const double want = model.saturated(row.out[d]);
    if (!(std::fabs(value - want) <= ErrorModel::bound(bounds, want, row.a[d]))) return false;
  }
  if (!numerics.lse) return true;
  const double lse = load(DType::kF32, at);
  if (std::isinf(row.lse)) return lse == row.lse;  // whose bound is infinite, too
  return std::fabs(lse - row.lse) <= bounds.lse_bound;
}

namespace {

/// Rows of `width` elements that `read` gives, times what `scale_of` does.
template <class Read, class ScaleOf>
reference::LoadRows rows_of(const Contents& contents, const KeyOwner& owner, KeyOf key_of,
                            Read read, ScaleOf scale_of, int width) {
  return [&contents, owner, key_of = std::move(key_of), read, scale_of, width](
             std::int64_t first, Eigen::Ref<reference::RowMatrix> block) {
    std::vector<float> row(static_cast<std::size_t>(width));
    for (Eigen::Index j = 0; j < block.rows(); ++j) {
      const std::int64_t key = key_of(first + j);
      (contents.*read)(owner.request, key, owner.kv_head, row);
      const RowScale scale = (contents.*scale_of)(owner.request, key, owner.kv_head);
      for (Eigen::Index d = 0; d < block.cols(); ++d) {
        block(j, d) = static_cast<double>(row[static_cast<std::size_t>(d)]) *
                      static_cast<double>(scale.at(static_cast<std::uint32_t>(d)));
      }
    }
  };
}

}  // namespace

reference::LoadRows rows_of_k(const Case& c, const Contents& contents, const KeyOwner& owner,
                              KeyOf key_of) {
  return rows_of(contents, owner, std::move(key_of), &Contents::k_row, &Contents::k_scale,
                 c.layer.head_dim_qk);
}

reference::LoadRows rows_of_v(const Case& c, const Contents& contents, const KeyOwner& owner,
                              KeyOf key_of) {
  return rows_of(contents, owner, std::move(key_of), &Contents::v_row, &Contents::v_scale,
                 c.layer.head_dim_v);
}

namespace {

using reference::VisibleKeys;

const Request& request_at(const Case& c, std::int64_t request) {
  return c.requests[static_cast<std::size_t>(request)];
}

VisibleKeys own_keys(const Case& c, const RowId& id) {
  return reference::keys_seen_by(c.layer, request_at(c, id.request), id.token);
}

/// The row over keys and values of other owners.
ReferenceRow row_over(const Case& c, const Contents& contents, const RowId& id,
                      const KeyOwner& of_k, const KeyOwner& of_v, VisibleKeys visible) {
  const auto in_order = [](std::int64_t key) { return key; };
  return row_of_keys(c, contents, id, own_q_scale(contents, id), std::move(visible),
                     rows_of_k(c, contents, of_k, in_order),
                     rows_of_v(c, contents, of_v, in_order));
}

int kv_head_of(const Case& c, const RowId& id) { return id.head / c.layer.group_size(); }

/// A mistake in where the parts of a latent layer's cached row lie: the latent part, which is V,
/// then the rope part. Columns are counted round the row.
struct WrongColumns {
  const char* text;
  int of_k;  ///< where the row is taken to begin; -1: at its rope part
  int of_v;  ///< where V is; likewise
};

constexpr WrongColumns kWrongColumns[] = {
    {"V that begins one column late", 0, 1},
    {"V taken from the last columns of the cached row", 0, -1},
    {"a cached row whose rope part is taken to come first", -1, -1},
};

/// The row with `wrong` columns of the cached row.
ReferenceRow evaluate_columns(const Case& c, const Contents& contents, const RowId& id,
                              const WrongColumns& wrong) {
  const auto width = static_cast<std::size_t>(c.layer.head_dim_qk);
  const std::size_t rope = width - static_cast<std::size_t>(c.layer.head_dim_v);
  // A row that is taken to begin with its rope part has the latent part `rope` columns too late.
  const auto columns_from = [&](int wrong_begin) {
    const std::size_t begin = wrong_begin < 0 ? rope : static_cast<std::size_t>(wrong_begin);
    return
        [&contents, id, width, begin](std::int64_t first, Eigen::Ref<reference::RowMatrix> block) {
          std::vector<float> row(width);
          for (Eigen::Index j = 0; j < block.rows(); ++j) {
            contents.k_row(id.request, first + j, 0, row);
            const RowScale scale = contents.k_scale(id.request, first + j, 0);
            for (Eigen::Index d = 0; d < block.cols(); ++d) {
              const std::size_t column = (static_cast<std::size_t>(d) + begin) % width;
              block(j, d) = static_cast<double>(row[column]) *
                            static_cast<double>(scale.at(static_cast<std::uint32_t>(column)));
            }
          }
        };
  };
  return row_of_keys(c, contents, id, own_q_scale(contents, id), own_keys(c, id),
                     columns_from(wrong.of_k), columns_from(wrong.of_v));
}

/// Which other KV head's keys, or values, or both, give the row.
std::string cause_of_kv_head(const Case& c, const Contents& contents, const Numerics& numerics,
                             const RowId& id, std::span<const std::byte> got) {
  const int heads = c.layer.heads_kv, group = c.layer.group_size();
  const int right = kv_head_of(c, id);
  for (const int head : {id.head % heads, 0, right - 1, right + 1}) {
    if (head < 0 || head >= heads || head == right) continue;
    const KeyOwner own{id.request, right}, other{id.request, head};
    struct Part {
      const char* text;
      const KeyOwner &of_k, &of_v;
    };
    const Part parts[] = {{"", other, other}, {"V of ", own, other}, {"K of ", other, own}};
    const auto* const part = std::ranges::find_if(parts, [&](const Part& each) {
      const ReferenceRow row = row_over(c, contents, id, each.of_k, each.of_v, own_keys(c, id));
      return agrees(c, numerics, row, got);
    });
    if (part == std::end(parts)) continue;
    std::string cause = fmt::format("{}KV head {} for query head {} instead of {}", part->text,
                                    head, id.head, right);
    if (head == id.head % heads) {
      cause += fmt::format(", {} % {} in place of {} / {}", id.head, heads, id.head, group);
    }
    if (head == 0) cause += ", as with KV head 0 for all";
    return cause;
  }
  return {};
}

/// Of latent layers, which columns of the cached row give the row.
std::string cause_of_columns(const Case& c, const Contents& contents, const Numerics& numerics,
                             const RowId& id, std::span<const std::byte> got) {
  for (const WrongColumns& wrong : kWrongColumns) {
    if (agrees(c, numerics, evaluate_columns(c, contents, id, wrong), got)) return wrong.text;
  }
  return {};
}

/// The request's neighbours, then all others from the first on.
std::vector<std::int64_t> other_requests(const Case& c, std::int64_t request) {
  std::vector<std::int64_t> others;
  const auto add = [&](std::int64_t other) {
    const bool exists = other >= 0 && other < std::ssize(c.requests) && other != request;
    if (exists && std::ranges::find(others, other) == others.end()) others.push_back(other);
  };
  add(request - 1);
  add(request + 1);
  for (std::int64_t other = 0; other < std::ssize(c.requests); ++other) add(other);
  return others;
}

/// Which other request's keys give the row: as many as that one has, or as many as the row's own.
/// As many keys are tried as the longest row that is explained has.
std::string cause_of_request(const Case& c, const Contents& contents, const Numerics& numerics,
                             const RowId& id, std::span<const std::byte> got) {
  const Request& own = request_at(c, id.request);
  std::int64_t tried = 0;
  for (const std::int64_t other : other_requests(c, id.request)) {
    const std::int64_t of_other = request_at(c, other).kv_len;
    for (const std::int64_t kv_len : {of_other, own.kv_len}) {
      if (kv_len > of_other || kv_len < own.q_len) continue;
      tried += kv_len;
      if (tried > kMostKeysToExplain) return {};
      Request as_read = own;
      as_read.kv_len = kv_len;
      const KeyOwner owner{other, kv_head_of(c, id)};
      const ReferenceRow row = row_over(c, contents, id, owner, owner,
                                        reference::keys_seen_by(c.layer, as_read, id.token));
      if (!agrees(c, numerics, row, got)) continue;
      return fmt::format(
          "the keys of request {} instead of its own, as with another's row of the request table, "
          "or another's entries of kv_indptr",
          other);
    }
  }
  return {};
}

/// A mistake in where a query's row of the mask lies: FULL_MASK has one of [q_len, kv_len] for each
/// request, one behind the other.
struct WrongMaskPlace {
  const char* text;
  /// Where the row of node `token` of `request` is taken to begin.
  std::int64_t (*begin)(std::span<const std::int64_t> indptr, const Request& request,
                        const RowId& id);
};

constexpr WrongMaskPlace kWrongMaskPlaces[] = {
    {"a tree mask read with rows of q_len entries, where FULL_MASK has kv_len",
     [](std::span<const std::int64_t> indptr, const Request& request, const RowId& id) {
       return indptr[static_cast<std::size_t>(id.request)] + id.token * request.q_len;
     }},
    {"a tree mask read with rows as long as the prefix, without the draft's tokens",
     [](std::span<const std::int64_t> indptr, const Request& request, const RowId& id) {
       return indptr[static_cast<std::size_t>(id.request)] + id.token * request.prefix_len();
     }},
    {"the tree mask of request 0 for all: mask_indptr left out",
     [](std::span<const std::int64_t>, const Request& request, const RowId& id) {
       return id.token * request.kv_len;
     }},
};

/// Of draft trees, which part of the mask, taken for the row's own, gives the row.
std::string cause_of_mask(const Case& c, const Contents& contents, const Numerics& numerics,
                          const RowId& id, std::span<const std::byte> got) {
  const Request& own = request_at(c, id.request);
  if (own.tree_parents.empty() || c.layer.sliding_window_size >= 0 || c.layer.attention_chunk > 0) {
    return {};
  }
  std::vector<std::vector<int>> parents;
  std::vector<std::int32_t> prefixes;
  for (const Request& request : c.requests) {
    parents.push_back(request.tree_parents);
    prefixes.push_back(static_cast<std::int32_t>(request.prefix_len()));
  }
  const std::vector<std::uint8_t> mask = full_mask(parents, prefixes);
  const std::vector<std::int64_t> indptr = mask_indptr(own.q_len, prefixes);
  const KeyOwner owner{id.request, kv_head_of(c, id)};
  for (const WrongMaskPlace& wrong : kWrongMaskPlaces) {
    const std::int64_t begin = wrong.begin(indptr, own, id);
    VisibleKeys visible;
    for (std::int64_t key = 0; key < own.kv_len && begin + key < std::ssize(mask); ++key) {
      if (mask[static_cast<std::size_t>(begin + key)] != 0) visible.branch.push_back({key, key});
    }
    if (agrees(c, numerics, row_over(c, contents, id, owner, owner, std::move(visible)), got)) {
      return wrong.text;
    }
  }
  return {};
}

}  // namespace

std::string cause_of_keys(const Case& c, const Contents& contents, const Numerics& numerics,
                          const RowId& id, std::span<const std::byte> got) {
  if (c.layer.has_alibi || c.layer.temperature_len > 0 || c.layer.dual_chunk.exists() ||
      c.layer.gathers_keys()) {
    return {};
  }
  using Cause = std::string (*)(const Case&, const Contents&, const Numerics&, const RowId&,
                                std::span<const std::byte>);
  const Cause of_row = c.layer.shares_row_of_k_and_v() ? cause_of_columns : cause_of_kv_head;
  for (const Cause find : {of_row, Cause{cause_of_mask}, Cause{cause_of_request}}) {
    if (std::string cause = find(c, contents, numerics, id, got); !cause.empty()) return cause;
  }
  return {};
}

}  // namespace attnbench
