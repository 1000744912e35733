// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "lib/backend/numerics.h"
#include "reference/oracle.h"

namespace attnbench {

/// How far a correct backend of declared numerics may be from the exact result: a worst case per
/// element, and the standard deviation that rounding noise really has.
///
/// Both follow from where a value is rounded, with u the unit roundoff of a type, A = sum p |v|,
/// B = sqrt(sum (p v)^2) and S = max_j scale sum |q| |k_j| from the reference, S times the row's
/// temperature. In the worst case
///   - a logit is off by at most delta = (gamma_d + inputs rounded before the product) S; a weight
///     p_j then by 2 delta (numerator and denominator), so the output by 2 delta A;
///   - weights rounded to `p` before P.V cost u_p A;
///   - exp, division and the k/v scales: a few ulps of f32, 2^-21 A (ex2.approx is good to 2^-22);
///   - accumulation over L keys: tiles keep chains short, min(L, 1024) u_acc A;
///   - partial results of splits stored below f32: u_partial A per split;
///   - the store: u_out |o|, and half a subnormal step, times the scale of outputs in fp8;
///   - weights that underflow. Relative to the row's largest, as every kernel computes them, a
///     weight below f32's smallest normal number may become 0 (ex2.approx.ftz, and vectorised
///     polynomials), and one below p's is off by half a step of its subnormals. Of each key this
///     costs |v| / D, D the denominator in the same units; and a product or a sum of such weights
///     half a step of f32's subnormals. Next to a sink that outweighs all keys, or under f16
///     weights, that is all there is.
///
/// As noise, the roundings of different keys are independent, and on random data partial sums walk
/// at random, so that most of it grows as B: weights u_p, exp 2^-22, a sequential sum over L keys
/// sqrt(L / 2) u_acc, sqrt(m) times as much where a list names a key m times, whose terms are
/// rounded alike, and the logit's own error. The latter is u S of the product, which is a random
/// walk, too, and u of the largest logit for the scale, log2(e) and the maximum. What the keys
/// share - division, scales, the denominator's sum - is a part of the output itself.
///
/// A recurrent layer has no weights: A and B are then the reference's own count of roundings, in
/// units of the accumulator's (reference/gated_delta_net.h), to which the store of O is added.
///
/// An f32 output is no special case: u_out and u_p are then 2^-24, and the f32 terms above, which
/// bf16 hides, are what remains.
class ErrorModel {
 public:
  ErrorModel(const Case& c, const Numerics& numerics);

  /// What one row contributes; valid for that row only.
  struct Row {
    double u_out;  ///< of the store
    double half_subnormal;
    double per_a;          ///< bound terms that multiply A
    double underflow;      ///< bound of what underflows, whatever the output is
    double noise_per_b;    ///< noise terms that multiply B
    double noise_per_a;    ///< noise terms that multiply A
    double noise_per_out;  ///< noise terms that multiply |o|
    double lse_bound;
  };
  [[nodiscard]] Row row(const ReferenceRow& reference) const {
    return recurrent_ ? delta_net_row(reference) : softmax_row(reference);
  }

  /// What becomes of an exact output in the type that it is stored in, before it is rounded: beyond
  /// the largest number of fp8, that number.
  [[nodiscard]] double saturated(double out) const {
    return largest_out_ > 0 ? std::clamp(out, -largest_out_, largest_out_) : out;
  }

  [[nodiscard]] static double bound(const Row& row, double out, double a);
  /// Standard deviation of the error. Rounding within a binade is uneven, so that a correct kernel
  /// shows an RMS of err / sigma between 1 and 2 where the store or the weights round most, 1.4 on
  /// average; below 1 where nothing but f32 does and its sums are shorter than a chain of all keys.
  [[nodiscard]] static double sigma(const Row& row, double out, double a, double b);

 private:
  [[nodiscard]] Row softmax_row(const ReferenceRow& reference) const;
  [[nodiscard]] Row delta_net_row(const ReferenceRow& reference) const;

  bool recurrent_;
  double u_out_;
  double largest_out_;  ///< of outputs in fp8, at their scale; 0: none saturates
  double half_subnormal_;
  double weight_underflow_;  ///< of a weight, relative to the row's largest
  double u_p_;
  int p_roundings_;    ///< 1, or 2 when V is rounded with P
  double u_qk_input_;  ///< per rounded operand
  int qk_roundings_;   ///< operands of q.k that the backend rounds: 0, 1 or 2
  double u_qk_sum_;    ///< of sums of products of fp8 operands
  double u_acc_;
  double splits_;  ///< bound per A of partial results
  double dims_;
  double tanh_;          ///< logit error of a softcap's tanh, which a row's temperature multiplies
  int logit_roundings_;  ///< of a logit beside its products
};

}  // namespace attnbench
