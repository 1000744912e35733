// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reference/oracle.h"
#include "reference/visible_keys.h"

namespace attnbench::reference {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What turns q.k into a logit: scale, then the cap; the query's temperature, ALiBi and the mask
/// come after both.
struct LogitRule {
  double scale = 1;
  double logit_cap = 0;  ///< cap * tanh(s / cap); 0 = off
  int query_forms = 1;   ///< that lie one behind the other in a query's vector
};

/// One row of queries beside its vector.
struct QueryRow {
  VisibleKeys visible;
  std::int64_t position = 0;   ///< for ALiBi only
  double temperature = 1;      ///< multiplies the logits after the cap
  double alibi_slope = 0;      ///< -slope * |key position - position| joins the logit; 0 = off
  std::optional<double> sink;  ///< logit that joins the denominator and nothing else
  bool sink_in_lse = true;     ///< false: the LSE is over keys only
  /// Where a query has three forms: keys from here on meet its first, keys before these two its
  /// third.
  std::int64_t first_form_from = 0, second_form_from = 0;
  /// Keys that have a softmax of their own: with w their weights in it and z the score, they take
  /// part with e^z w, where others have e^logit. Two of the same keys add up.
  std::vector<WeighedUnit> units;
};

/// Writes rows [begin, begin + block.rows()) of K or V.
using LoadRows = std::function<void(std::int64_t begin, Eigen::Ref<RowMatrix> block)>;

/// Exact attention of a few query rows over one head's keys and values: logits of all visible keys
/// first, then the softmax with its true maximum, then weights times values, all in float64. A key
/// that takes part n times is one of n times the weight, whose logit is larger by ln n. Keys
/// and values come in blocks, only those that some row sees, so their number may be large; memory
/// is queries.rows() * seen keys * 8 bytes. `id` of the results is left empty.
[[nodiscard]] std::vector<ReferenceRow> attend_rows(const RowMatrix& queries,
                                                    std::span<const QueryRow> rows,
                                                    const LogitRule& rule, std::int64_t head_dim_v,
                                                    const LoadRows& load_keys,
                                                    const LoadRows& load_values);

/// The same on matrices K [n, dk] and V [n, dv].
[[nodiscard]] std::vector<ReferenceRow> attend_rows(const RowMatrix& queries,
                                                    std::span<const QueryRow> rows,
                                                    const LogitRule& rule, const RowMatrix& keys,
                                                    const RowMatrix& values);

}  // namespace attnbench::reference
