// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/format_accuracy.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/error.h"
#include "lib/batch/kv_row_codec.h"
#include "lib/batch/token_to_kv_pool.h"
#include "lib/device/cpu/host_memory.h"
#include "reference/attention_rows.h"
#include "reference/visible_keys.h"

namespace attnbench {
namespace {

using reference::RowMatrix;

constexpr std::uint32_t kChannelsPerOutlier = 64;

/// Whether a channel of K is large: one of each 64, drawn for each KV head.
bool is_outlier(const AccuracyData& data, int head, std::uint32_t dim) {
  const std::uint64_t key = row_key(data.seed, Role::kNeedle, dim / kChannelsPerOutlier, 0, head);
  return element_bits(key, 0) % kChannelsPerOutlier == dim % kChannelsPerOutlier;
}

std::vector<float> drawn_row(const AccuracyData& data, Role role, std::int64_t position, int head,
                             int dims) {
  const std::uint64_t key = row_key(data.seed, role, 0, position, head);
  std::vector<float> row;
  for (std::uint32_t dim = 0; dim < static_cast<std::uint32_t>(dims); ++dim) {
    float value = normal_element(key, dim);
    if (role == Role::kK && data.outlier_factor != 1 && is_outlier(data, head, dim)) {
      value *= static_cast<float>(data.outlier_factor);
    }
    row.push_back(rounded(DType::kBF16, value));
  }
  return row;
}

float magnitude_of(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  return largest;
}

/// What one KV head's keys and values are before they are stored, a row for each token.
struct DrawnHead {
  std::vector<std::vector<float>> keys, values;  ///< `values` is empty where keys serve as both
  float largest_key = 0, largest_value = 0;

  DrawnHead(const AttentionLayer& layer, const AccuracyData& data, int head) {
    for (std::int64_t j = 0; j < data.keys; ++j) {
      keys.push_back(drawn_row(data, Role::kK, j, head, layer.head_dim_qk));
      largest_key = std::max(largest_key, magnitude_of(keys.back()));
      if (layer.shares_row_of_k_and_v()) continue;
      values.push_back(drawn_row(data, Role::kV, j, head, layer.head_dim_v));
      largest_value = std::max(largest_value, magnitude_of(values.back()));
    }
  }
};

/// Scales under which the largest magnitude becomes the type's largest number.
struct CalibratedScales {
  float k = 1, v = 1;

  CalibratedScales(float largest_key, float largest_value, DType dtype)
      : k(largest_key / largest_finite(dtype)), v(largest_value / largest_finite(dtype)) {}
};

/// A cache of one head, whose tokens lie in slots 0, 1, 2 and so on.
class StoredHead {
 public:
  StoredHead(const AttentionLayer& layer, const StoredAs& stored, const DrawnHead& head,
             const CalibratedScales& of_tensor)
      : keys_(static_cast<std::int64_t>(head.keys.size())) {
    KvPoolShape shape = pool_shape_of(
        layer, {.dtype = stored.dtype, .page_size = keys_, .scales = stored.scales}, 1);
    shape.heads_kv = 1;
    std::vector<std::byte*> buffers;
    for (const CacheBuffer& buffer : cache_buffers(shape)) {
      memory_.emplace_back(static_cast<std::size_t>(buffer.bytes()));
    }
    for (std::vector<std::byte>& each : memory_) buffers.push_back(each.data());
    pool_ = kv_pool_view(buffers, shape);
    if (stored.calibrated) set_scales(pool_.k_scale, pool_.v_scale, of_tensor);
    if (stored.scales == KvScales::kHead) {
      set_scales(*pool_.k_scales, *pool_.v_scales,
                 {head.largest_key, head.largest_value, stored.dtype});
    }
    for (std::int64_t j = 0; j < keys_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      store(KvPart::kKey, j, head.keys[at]);
      if (!head.values.empty()) store(KvPart::kValue, j, head.values[at]);
    }
  }

  [[nodiscard]] RowMatrix keys() const { return read_back(KvPart::kKey, pool_.head_dim_k); }
  [[nodiscard]] RowMatrix values() const { return read_back(KvPart::kValue, pool_.head_dim_v); }

 private:
  void set_scales(float& k, float& v, const CalibratedScales& scales) const {
    k = scales.k;
    v = pool_.v == pool_.k ? scales.k : scales.v;
  }

  void store(KvPart part, std::int64_t position, std::span<const float> row) {
    std::vector<float> scales;
    const auto scale_for = [&](std::span<const float> values) {
      scales.push_back(written_scale(pool_.dtype, pool_.scales, magnitude_of(values)));
    };
    if (pool_.scales == KvScales::kToken) scale_for(row);
    const auto block = static_cast<std::size_t>(pool_.blocks.block);
    for (int i = 0; i < pool_.blocks.scales(); ++i) {
      scale_for(row.subspan(static_cast<std::size_t>(i) * block, block));
    }
    encode_kv_row(pool_, part, position, 0, row, scales);
  }

  /// As attention reads it.
  [[nodiscard]] RowMatrix read_back(KvPart part, int dims) const {
    RowMatrix rows(keys_, dims);
    std::vector<float> row(static_cast<std::size_t>(dims));
    for (std::int64_t j = 0; j < keys_; ++j) {
      decode_kv_row(pool_, part, j, 0, row);
      for (int dim = 0; dim < dims; ++dim) {
        rows(j, dim) = static_cast<double>(row[static_cast<std::size_t>(dim)]);
      }
    }
    return rows;
  }

  std::int64_t keys_;
  std::vector<std::vector<std::byte>> memory_;
  KvPool pool_;
};

/// Of one layer: K, V and their scales.
double bytes_per_token(const AttentionLayer& layer, const StoredAs& stored, std::int64_t keys) {
  const CacheFormat format{.dtype = stored.dtype, .page_size = keys, .scales = stored.scales};
  if (are_of_blocks(stored.scales)) {
    return static_cast<double>(bytes_of_token(pool_shape_of(layer, format, 1)));
  }
  return static_cast<double>(cache_bytes(pool_shape_of(layer, format, 1))) /
         static_cast<double>(keys);
}

/// The queries that share one KV head, with what each sees.
struct QueryGroup {
  RowMatrix queries;
  std::vector<reference::QueryRow> rows;
};

QueryGroup queries_of(const AttentionLayer& layer, const AccuracyData& data, int kv_head) {
  Request request;
  request.q_len = data.queries;
  request.kv_len = data.keys;
  QueryGroup group{RowMatrix(data.queries * layer.group_size(), layer.head_dim_qk), {}};
  for (std::int64_t token = 0; token < data.queries; ++token) {
    for (int member = 0; member < layer.group_size(); ++member) {
      const int head = kv_head * layer.group_size() + member;
      const auto at = static_cast<Eigen::Index>(group.rows.size());
      const std::vector<float> row = drawn_row(data, Role::kQ, token, head, layer.head_dim_qk);
      for (Eigen::Index dim = 0; dim < group.queries.cols(); ++dim) {
        group.queries(at, dim) = static_cast<double>(row[static_cast<std::size_t>(dim)]);
      }
      reference::QueryRow query;
      query.visible = reference::keys_seen_by(layer, request, token);
      query.position = reference::query_position(request, token);
      if (layer.has_alibi) query.alibi_slope = alibi_slope(layer, head);
      if (layer.has_sinks) {
        const std::uint64_t key = row_key(data.seed, Role::kSink, 0, 0, head);
        query.sink = static_cast<double>(normal_element(key, 0));
      }
      group.rows.push_back(std::move(query));
    }
  }
  return group;
}

/// The largest magnitude of the group's queries.
float largest_query(const QueryGroup& group) {
  return static_cast<float>(group.queries.cwiseAbs().maxCoeff());
}

/// The group's queries as `dtype` under `scale` keeps them.
QueryGroup stored_queries(QueryGroup group, DType dtype, float scale) {
  group.queries = group.queries.unaryExpr([&](double value) {
    const float stored = rounded(dtype, static_cast<float>(value) / scale);
    return static_cast<double>(stored) * static_cast<double>(scale);
  });
  return group;
}

/// Of each row the key with the largest product, among those that it sees. The cap and the scale
/// keep the order; ALiBi, which does not, is left out.
std::vector<std::int64_t> largest_keys(const QueryGroup& group, const RowMatrix& keys) {
  const RowMatrix products = group.queries * keys.transpose();
  std::vector<std::int64_t> largest;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const auto row = products.row(static_cast<Eigen::Index>(i));
    std::int64_t best = -1;
    group.rows[i].visible.for_each_in(0, keys.rows(), [&](reference::VisibleKeys::Key key) {
      if (best < 0 || row(key.index) > row(best)) best = key.index;
    });
    largest.push_back(best);
  }
  return largest;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Sums over rows, out of which the figures are made.
struct Tally {
  double cosines = 0, lowest = 1, squared_error = 0, squared = 0, lse = 0;
  std::int64_t rows = 0, agreeing = 0;

  void add(const ReferenceRow& base, const ReferenceRow& other, bool same_key) {
    const double own = dot(base.out, base.out), its = dot(other.out, other.out);
    const double both = dot(base.out, other.out);
    const double norm = std::sqrt(own * its);
    const double cosine = norm > 0 ? both / norm : 1;
    cosines += cosine;
    lowest = std::min(lowest, cosine);
    squared_error += own - 2 * both + its;
    squared += own;
    if (std::isfinite(base.lse)) lse = std::max(lse, std::abs(base.lse - other.lse));
    agreeing += same_key ? 1 : 0;
    ++rows;
  }

  void add(const Tally& other) {
    cosines += other.cosines;
    lowest = std::min(lowest, other.lowest);
    squared_error += other.squared_error;
    squared += other.squared;
    lse = std::max(lse, other.lse);
    agreeing += other.agreeing;
    rows += other.rows;
  }
};

/// Attention of one KV head's queries over a cache.
struct Attended {
  std::vector<ReferenceRow> rows;
  std::vector<std::int64_t> largest_keys;

  Attended(const AttentionLayer& layer, const QueryGroup& group, const StoredHead& head) {
    const RowMatrix keys = head.keys();
    rows = reference::attend_rows(group.queries, group.rows,
                                  {.scale = layer.scale, .logit_cap = layer.logit_cap}, keys,
                                  head.values());
    largest_keys = attnbench::largest_keys(group, keys);
  }
};

/// Bytes on `threads` threads: the numbers drawn for all KV heads, and of each head that is
/// evaluated the rows in float64 and the logits of its queries.
std::int64_t accuracy_memory_need(const AttentionLayer& layer, const AccuracyData& data,
                                  int threads) {
  constexpr std::int64_t kRowOverhead = sizeof(std::vector<float>) + 16;  // and the allocator's
  const bool shares_row = layer.shares_row_of_k_and_v();
  const std::int64_t drawn = (layer.head_dim_qk + (shares_row ? 0 : layer.head_dim_v)) * 4 +
                             (shares_row ? 1 : 2) * kRowOverhead;
  // In float64 and as stored, in two bytes an element at most; and a logit for each query.
  const std::int64_t evaluated =
      (layer.head_dim_qk + layer.head_dim_v) * (8 + 2) + data.queries * layer.group_size() * 8;
  return data.keys *
         (layer.heads_kv * drawn + std::min<std::int64_t>(threads, layer.heads_kv) * evaluated);
}

void refuse_too_many_keys(const AttentionLayer& layer, const AccuracyData& data) {
  const std::int64_t need = accuracy_memory_need(layer, data, omp_get_max_threads());
  const std::int64_t available = available_memory_bytes();
  if (need <= available) return;
  throw EnvironmentError(fmt::format(
      "{} keys and {} queries need {:.1f} GB of host memory; {:.1f} GB are available", data.keys,
      data.queries, static_cast<double>(need) / 1e9, static_cast<double>(available) / 1e9));
}

}  // namespace

std::string StoredAs::name() const {
  std::string name(to_string(dtype));
  if (size_bytes(dtype) == 1) {
    const bool of_one = scales == KvScales::kTensor && !calibrated;
    name += of_one ? ", scale 1" : fmt::format(", a scale per {}", to_string(scales));
  }
  if (queries) name += fmt::format(", Q in {}", to_string(*queries));
  return name;
}

std::vector<StoredAs> ways_to_store(const AttentionLayer& layer) {
  if (layer.is_recurrent()) throw ConfigError("a linear layer keeps no keys and values");
  std::vector<StoredAs> ways{{DType::kBF16}, {DType::kF16}};
  for (const DType dtype : {DType::kE4M3, DType::kE5M2}) {
    ways.push_back({dtype});
    ways.push_back({dtype, KvScales::kTensor, true});
    for (const KvScales scales : kCacheScales) {
      if (scales == KvScales::kTensor || scales == KvScales::kRequest) continue;
      if (scales_refusal(layer, {.dtype = dtype, .scales = scales}).empty()) {
        ways.push_back({dtype, scales});
      }
    }
  }
  for (const DType dtype : {DType::kBF16, DType::kE4M3}) {
    ways.push_back({dtype, KvScales::kTensor, size_bytes(dtype) == 1, DType::kE4M3});
  }
  return ways;
}

std::vector<FormatAccuracy> accuracy_of(const AttentionLayer& layer, std::span<const StoredAs> ways,
                                        const AccuracyData& data) {
  refuse_too_many_keys(layer, data);
  std::vector<DrawnHead> heads;
  float largest_key = 0, largest_value = 0;
  for (int head = 0; head < layer.heads_kv; ++head) {
    heads.emplace_back(layer, data, head);
    largest_key = std::max(largest_key, heads.back().largest_key);
    largest_value = std::max(largest_value, heads.back().largest_value);
  }
  const auto stored_as = [&](const StoredAs& way, std::size_t head) {
    return StoredHead(layer, way, heads[head], {largest_key, largest_value, way.dtype});
  };
  std::vector<QueryGroup> groups;
  float largest = 0;
  for (int head = 0; head < layer.heads_kv; ++head) {
    groups.push_back(queries_of(layer, data, head));
    largest = std::max(largest, largest_query(groups.back()));
  }
  std::vector<std::vector<Tally>> tallies(heads.size(), std::vector<Tally>(ways.size()));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const QueryGroup& group = groups[head];
    const Attended want(layer, group, stored_as({DType::kBF16}, head));
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const std::optional<DType> queries = ways[way].queries;
      const Attended got(
          layer,
          queries ? stored_queries(group, *queries, largest / largest_finite(*queries)) : group,
          stored_as(ways[way], head));
      for (std::size_t i = 0; i < want.rows.size(); ++i) {
        tallies[head][way].add(want.rows[i], got.rows[i],
                               want.largest_keys[i] == got.largest_keys[i]);
      }
    }
  }
  std::vector<FormatAccuracy> all;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    Tally sum;
    for (const std::vector<Tally>& of_head : tallies) sum.add(of_head[way]);
    const auto rows = static_cast<double>(sum.rows);
    all.push_back({.bytes_per_token = bytes_per_token(layer, ways[way], data.keys),
                   .cosine_mean = sum.cosines / rows,
                   .cosine_min = sum.lowest,
                   .nmse = sum.squared > 0 ? std::max(sum.squared_error, 0.0) / sum.squared : 0,
                   .lse_max = sum.lse,
                   .top1 = static_cast<double>(sum.agreeing) / rows});
  }
  return all;
}

}  // namespace attnbench
