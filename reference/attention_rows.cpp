// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "lib/base/error.h"

namespace attnbench::reference {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kBlock = 256;  // keys: 256 x 128 doubles are 256 KiB, half of an L2 cache

/// Keys [begin, begin + size), where their logits stand, and the rows that need them. Rows come
/// sorted by token, so those that see a block are neighbours but for the odd one between.
struct Block {
  std::int64_t begin = 0;
  Eigen::Index size = 0;
  Eigen::Index column = 0;
  Eigen::Index first_row = 0;
  Eigen::Index rows = 0;

  [[nodiscard]] bool has_row(Eigen::Index row) const {
    return row >= first_row && row < first_row + rows;
  }
};

/// Keys that meet a query's form `form`.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};
KeyRange keys_of_form(const QueryRow& row, int form) {
  if (form == 0) return {row.first_form_from};
  if (form == 1) return {row.second_form_from, row.first_form_from};
  return {0, row.second_form_from};
}

std::vector<Block> blocks_seen_by(std::span<const QueryRow> rows) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const QueryRow& row : rows) {
    const VisibleKeys& seen = row.visible;
    if (seen.count() == 0) continue;
    first = std::min(first, seen.begin < seen.end ? seen.begin : seen.branch.front().index);
    last = std::max(last, seen.branch.empty() ? seen.end : seen.branch.back().index + 1);
  }
  std::vector<Block> blocks;
  Eigen::Index column = 0;
  for (std::int64_t begin = first; begin < last; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, last);
    const auto sees = [&](const QueryRow& row) { return row.visible.any_in(begin, end); };
    const auto top = std::find_if(rows.begin(), rows.end(), sees);
    if (top == rows.end()) continue;
    const auto bottom = std::find_if(rows.rbegin(), rows.rend(), sees).base();
    blocks.push_back({begin, end - begin, column, top - rows.begin(), bottom - top});
    column += end - begin;
  }
  return blocks;
}

double logit_of(double dot, const LogitRule& rule, const QueryRow& row, std::int64_t key_position) {
  double logit = rule.scale * dot;
  if (rule.logit_cap > 0) logit = rule.logit_cap * std::tanh(logit / rule.logit_cap);
  logit *= row.temperature;
  if (row.alibi_slope != 0) {
    logit -= row.alibi_slope * static_cast<double>(std::abs(key_position - row.position));
  }
  return logit;
}

/// Calls visit(logit) for those of row i's keys in [begin, end).
template <class Visit>
void for_each_logit(RowMatrix& logits, Eigen::Index i, std::span<const Block> blocks,
                    std::int64_t begin, std::int64_t end, Visit visit) {
  for (const Block& block : blocks) {
    if (!block.has_row(i)) continue;
    const std::int64_t last = std::min(end, block.begin + block.size);
    for (std::int64_t key = std::max(begin, block.begin); key < last; ++key) {
      visit(logits(i, block.column + key - block.begin));
    }
  }
}

/// Turns logits of the row's units into those that one softmax over all keys weighs the same:
/// log(e^z w) = z + logit - LSE of the unit. `s` takes the largest |z|.
void weigh_units(RowMatrix& logits, Eigen::Index i, std::span<const Block> blocks,
                 const QueryRow& row, double& s) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> weights;
  for (const WeighedUnit& unit : row.units) {
    weights[{unit.begin, unit.end}] += std::exp(unit.score);
    if (std::isfinite(unit.score)) s = std::max(s, std::abs(unit.score));
  }
  for (const auto& [keys, weight] : weights) {
    double largest = kHidden, sum = 0;
    const auto for_each = [&, begin = keys.first, end = keys.second](auto visit) {
      for_each_logit(logits, i, blocks, begin, end, visit);
    };
    for_each([&](double& logit) { largest = std::max(largest, logit); });
    if (largest == kHidden) continue;
    for_each([&](double& logit) { sum += std::exp(logit - largest); });
    const double shift = std::log(weight) - largest - std::log(sum);
    for_each([&](double& logit) { logit += shift; });
  }
}

/// Of row i of the logits, whose largest is `largest`.
double lse_of_keys(const RowMatrix& logits, Eigen::Index i, std::span<const Block> blocks,
                   double largest) {
  if (largest == kHidden) return kHidden;
  double sum = 0;
  for (const Block& block : blocks) {
    if (!block.has_row(i)) continue;
    for (const double logit : logits.row(i).segment(block.column, block.size)) {
      sum += std::exp(logit - largest);
    }
  }
  return largest + std::log(sum);
}

/// Replaces row i of the logits by weights and sets lse and p_max. Columns of blocks without this
/// row hold nothing.
void normalise(RowMatrix& logits, Eigen::Index i, std::span<const Block> blocks,
               const QueryRow& row, ReferenceRow& result) {
  const std::optional<double>& sink = row.sink;
  const auto for_each_block = [&](auto visit) {
    for (const Block& block : blocks) {
      if (block.has_row(i)) visit(logits.row(i).segment(block.column, block.size));
    }
  };
  double largest = kHidden;
  for_each_block([&](auto part) { largest = std::max(largest, part.maxCoeff()); });
  const double shift = std::max(largest, sink.value_or(kHidden));
  if (shift == kHidden) {  // no key, no sink: nothing to average
    for_each_block([](auto part) { part.setZero(); });
    result.lse = kHidden;
    return;
  }
  double denominator = sink ? std::exp(*sink - shift) : 0.0;
  if (!row.sink_in_lse) result.lse = lse_of_keys(logits, i, blocks, largest);
  for_each_block([&](auto part) {
    for (double& entry : part) {
      entry = entry == kHidden ? 0.0 : std::exp(entry - shift);
      denominator += entry;
    }
  });
  for_each_block([&](auto part) { part /= denominator; });
  if (row.sink_in_lse) result.lse = shift + std::log(denominator);
  result.denominator = denominator;
  result.p_max = largest == kHidden ? 0.0 : std::exp(largest - shift) / denominator;
}

}  // namespace

std::vector<ReferenceRow> attend_rows(const RowMatrix& queries, std::span<const QueryRow> rows,
                                      const LogitRule& rule, std::int64_t head_dim_v,
                                      const LoadRows& load_keys, const LoadRows& load_values) {
  const auto m = static_cast<Eigen::Index>(rows.size());
  expects(queries.rows() == m, "one query vector per row");
  std::vector<ReferenceRow> results(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[i].visible = rows[i].visible.count();
    results[i].repeats = rows[i].visible.most_times();
    results[i].temperature = rows[i].temperature;
  }

  const std::vector<Block> blocks = blocks_seen_by(rows);
  const Eigen::Index columns = blocks.empty() ? 0 : blocks.back().column + blocks.back().size;
  RowMatrix weights(m, columns);

  const Eigen::Index head_dim_qk = queries.cols() / rule.query_forms;
  RowMatrix loaded(kBlock, head_dim_qk), dots(m, kBlock), magnitudes(m, kBlock);
  for (const Block& block : blocks) {
    auto keys = loaded.topRows(block.size);
    load_keys(block.begin, keys);
    weights.block(block.first_row, block.column, block.rows, block.size).setConstant(kHidden);
    const std::int64_t block_end = block.begin + block.size;
    for (int form = 0; form < rule.query_forms; ++form) {
      const auto meets = [&](const QueryRow& row) {
        const KeyRange range = keys_of_form(row, form);
        return range.begin < block_end && range.end > block.begin;
      };
      const auto first = rows.begin() + block.first_row;
      if (std::none_of(first, first + block.rows, meets)) continue;
      const auto q = queries.block(block.first_row, form * head_dim_qk, block.rows, head_dim_qk);
      dots.topLeftCorner(block.rows, block.size).noalias() = q * keys.transpose();
      magnitudes.topLeftCorner(block.rows, block.size).noalias() =
          q.cwiseAbs() * keys.cwiseAbs().transpose();
      for (Eigen::Index i = 0; i < block.rows; ++i) {
        const auto index = static_cast<std::size_t>(block.first_row + i);
        const KeyRange range = keys_of_form(rows[index], form);
        double& s = results[index].s;
        const auto take = [&](VisibleKeys::Key key) {
          const Eigen::Index at = key.index - block.begin;
          double& logit = weights(block.first_row + i, block.column + at);
          logit = logit_of(dots(i, at), rule, rows[index], key.position);
          if (key.times > 1) logit += std::log(static_cast<double>(key.times));
          s = std::max(s, rows[index].temperature * rule.scale * magnitudes(i, at));
        };
        rows[index].visible.for_each_in(std::max(block.begin, range.begin),
                                        std::min(block_end, range.end), take);
      }
    }
  }

  for (Eigen::Index i = 0; i < m; ++i) {
    const auto index = static_cast<std::size_t>(i);
    weigh_units(weights, i, blocks, rows[index], results[index].s);
    normalise(weights, i, blocks, rows[index], results[index]);
  }

  RowMatrix out = RowMatrix::Zero(m, head_dim_v), a = out, b_squared = out;
  loaded.resize(kBlock, head_dim_v);
  for (const Block& block : blocks) {
    auto values = loaded.topRows(block.size);
    load_values(block.begin, values);
    const auto p = weights.block(block.first_row, block.column, block.rows, block.size);
    const double largest = values.cwiseAbs().maxCoeff();
    for (Eigen::Index i = block.first_row; i < block.first_row + block.rows; ++i) {
      double& v_max = results[static_cast<std::size_t>(i)].v_max;
      v_max = std::max(v_max, largest);
    }
    out.middleRows(block.first_row, block.rows).noalias() += p * values;
    a.middleRows(block.first_row, block.rows).noalias() += p * values.cwiseAbs();
    b_squared.middleRows(block.first_row, block.rows).noalias() +=
        p.cwiseAbs2() * values.cwiseAbs2();
  }
  for (Eigen::Index i = 0; i < m; ++i) {
    ReferenceRow& result = results[static_cast<std::size_t>(i)];
    const Eigen::RowVectorXd b = b_squared.row(i).cwiseSqrt();
    result.out.assign(out.row(i).begin(), out.row(i).end());
    result.a.assign(a.row(i).begin(), a.row(i).end());
    result.b.assign(b.begin(), b.end());
  }
  return results;
}

std::vector<ReferenceRow> attend_rows(const RowMatrix& queries, std::span<const QueryRow> rows,
                                      const LogitRule& rule, const RowMatrix& keys,
                                      const RowMatrix& values) {
  const auto rows_of = [](const RowMatrix& matrix) -> LoadRows {
    return [&matrix](std::int64_t begin, Eigen::Ref<RowMatrix> block) {
      block = matrix.middleRows(begin, block.rows());
    };
  };
  return attend_rows(queries, rows, rule, values.cols(), rows_of(keys), rows_of(values));
}

}  // namespace attnbench::reference
