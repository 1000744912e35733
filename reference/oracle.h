// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/contents/contents.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// One row of the output: a query token of a request under one query head. Of a recurrent layer the
/// head is a value head, and a row may be one of the request's state instead: after the step, or,
/// in a target_verify, behind the token.
struct RowId {
  std::int64_t request = 0;
  std::int64_t token =
      0;         ///< query token within the request, 0 .. q_len - 1; 0 of a state after the step
  int head = 0;  ///< query head
  int state_row = -1;  ///< key dim of a row of the state; -1: a row of the output

  friend bool operator==(const RowId&, const RowId&) = default;
};

/// Exact results of one row in float64, with what the error bounds of lib/verify need.
/// Vectors have head_dim_v entries. Of a recurrent layer only id, out, a and b have a meaning, and
/// the latter two are another thing: how far a step-by-step evaluation in arithmetic of unit
/// roundoff u may be off at most (a u), and about is (b u) (reference/gated_delta_net.h).
struct ReferenceRow {
  RowId id;
  std::vector<double> out;  ///< O; zeros for an empty row
  double lse = 0;           ///< natural log, the sink included; -inf for an empty row without sink
  std::vector<double> a;    ///< A = sum_j p_j |v_j|
  std::vector<double> b;    ///< B = sqrt(sum_j (p_j v_j)^2)
  double temperature = 1;   ///< what the row's logits are multiplied by after the cap
  /// S = max_j temperature * scale * sum_d |q_d| |k_jd| over visible keys
  double s = 0;
  double p_max = 0;          ///< largest weight of a key
  double v_max = 0;          ///< bounds |v| of the visible keys: the largest of their blocks
  double denominator = 1;    ///< of the weights, relative to the largest or the sink: at least 1
  std::int64_t visible = 0;  ///< keys the mask lets through, as often as a list names them
  std::int64_t repeats = 1;  ///< how often it names one of them, at most
};

namespace reference {

/// Evaluates rows of a case in float64 from its contents: stored values widened, K and V through
/// their scales, two-pass softmax. Uses no pages, index arrays or backends. `rows` may come in any
/// order; results are in the same order. Uses OpenMP over (request, KV head); the result does not
/// depend on the number of threads.
[[nodiscard]] std::vector<ReferenceRow> evaluate_rows(const Case& c, const Contents& contents,
                                                      std::span<const RowId> rows);

/// The same rows from several contents, which share the threads: a case of few requests has fewer
/// (request, KV head) than a machine has cores. One result each, in their order.
[[nodiscard]] std::vector<std::vector<ReferenceRow>> evaluate_rows(
    const Case& c, std::span<const Contents> contents, std::span<const RowId> rows);

/// What a row becomes where a part of its keys takes part, or where its logits are off.
struct RowVariant {
  /// Whether the key that is number `number` of the `count` that the row sees takes part; null: all
  /// of them do.
  bool (*keeps)(std::int64_t number, std::int64_t count) = nullptr;
  double logit_factor = 1;  ///< multiplies q.k
  bool plain = false;       ///< no sink and no ALiBi: with factor 0 the mean of V
};

/// evaluate_rows() of each of `variants` of each row, those of a row one behind the other; not of a
/// recurrent layer. K and V are made once for all variants.
[[nodiscard]] std::vector<ReferenceRow> evaluate_variants(const Case& c, const Contents& contents,
                                                          std::span<const RowId> rows,
                                                          std::span<const RowVariant> variants);

/// A seeded sample of about `budget` rows (all of them when there are no more): every request at
/// least once, always its first and last token, tokens at page ends, at split ends (multiples of
/// 256 keys), at the edges of window, chunks and mask; the heads rotate so that every query head is
/// met. Sorted by request, KV head, token, head; no row twice.
[[nodiscard]] std::vector<RowId> sample_rows(const Case& c, std::int64_t budget);

}  // namespace reference

}  // namespace attnbench
