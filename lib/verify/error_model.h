// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "lib/backend/attention_backend.h"
#include "reference/oracle.h"

namespace attnbench {

/// How far a correct backend of declared numerics may be from the exact result: a worst case per
/// element, and the standard deviation that rounding noise really has.
///
/// Both follow from where a value is rounded, with u the unit roundoff of a type, A = sum p |v|,
/// B = sqrt(sum (p v)^2) and S = max_j scale sum |q| |k_j| from the reference:
///   - a logit is off by at most delta = (gamma_d + inputs rounded before the product) S; a weight
///     p_j then by 2 delta (numerator and denominator), so the output by 2 delta A;
///   - weights rounded to `p` before P.V: u_p A in the worst case, u_p B / sqrt(12) as noise,
///     because the roundings of different keys are independent;
///   - exp, division and the k/v scales: a few ulps of f32, 2^-21 A (ex2.approx is good to 2^-22);
///   - accumulation over L keys: tiles keep chains short, min(L, 1024) u_acc A;
///   - partial results of splits stored below f32: u_partial A per split;
///   - the store: u_out |o|, and half a subnormal step.
/// An f32 output is no special case: u_out and u_p are then 2^-24, and the f32 terms above, which
/// bf16 hides, are what remains.
class ErrorModel {
 public:
  ErrorModel(const Case& c, const Numerics& numerics);

  /// What one row contributes; valid for that row only.
  struct Row {
    double per_a;        ///< bound terms that multiply A
    double noise_per_b;  ///< noise terms that multiply B
    double noise_per_a;
    double lse_bound;
  };
  [[nodiscard]] Row row(const ReferenceRow& reference) const;

  [[nodiscard]] double bound(const Row& row, double out, double a) const;
  /// Standard deviation of the error. Rounding within a binade is uneven, so that a correct kernel
  /// shows an RMS of err / sigma between 1 and 2, 1.4 on average.
  [[nodiscard]] double sigma(const Row& row, double out, double a, double b) const;

 private:
  double u_out_;
  double half_subnormal_;
  double u_p_;
  int p_roundings_;    ///< 1, or 2 when V is rounded with P
  double u_qk_input_;  ///< per rounded operand
  int qk_roundings_;   ///< operands of q.k that the backend rounds: 0, 1 or 2
  double u_acc_;
  double splits_;  ///< bound per A of partial results
  double dims_;
  double tanh_;  ///< logit error of a softcap's tanh
};

}  // namespace attnbench
