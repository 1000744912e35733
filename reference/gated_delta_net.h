// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace attnbench::reference {

/// One token under one value head, as stored: q and k of its key head are not normalised yet.
struct DeltaNetToken {
  Eigen::VectorXd q, k;  ///< [K]
  Eigen::RowVectorXd v;  ///< [V]
  Eigen::ArrayXd g;      ///< [K] log decay, at most 0, the same for all or not
  double beta = 0;
  double skip = 0;  ///< D of Mamba-2
};

/// x / sqrt(sum x^2 + 1e-6), as flash-linear-attention's l2norm (fla/modules/l2norm.py).
[[nodiscard]] Eigen::VectorXd l2_normalised(const Eigen::VectorXd& x);

/// The gated delta rule of one value head in float64, token by token (Yang, Kautz, Hatamizadeh,
/// arXiv:2412.06464, equation 10; with a decay for each key dim Kimi delta attention,
/// arXiv:2510.26692, equation 1), with q and k normalised:
///
///   S <- diag(e^g) S;   w = beta (v - k^T S);   S <- S + k w;   o = scale q^T S
///
/// Beside it runs a bound of what the same steps lose in arithmetic of unit roundoff u, per column
/// s of S (one value dim), in the 2-norm over the key dims and in units of u. With |k| <= 1 and
/// beta in (0, 1) the map I - beta k k^T is a contraction, so an old error E only decays, and a
/// step adds what it rounds itself. A dot product of K terms costs at most n = K + 4; a normalised
/// vector is off by at most m = K / 2 + 4, since the root halves what the sum of squares is off:
///
///   E <- max e^g E + |(9 + 2 |g|) e^g s|     decay: exp good to 2^-21, its argument, the product
///             + (n + m) beta |k| |e^g s|     k^T S, and the k in it
///             + (m + 4) |k| |w|              k once more, beta, the difference, the product k w
///             + |s|                          the sum that is the new state
///   error of o <= scale |q| (E + (n + m) |s|)
///
/// As noise the same roundings are independent: of a dot product of K terms one sees about 1 u of
/// its operands' norms over sqrt(K), and steps add as squares:
///
///   N^2 <- max e^2g N^2 + (4 |e^g s|)^2 + |w|^2 + |s|^2, halved for roundings being uniform;
///   noise of o = scale |q| hypot(N, 2 |s|) / sqrt(K), of one element of s = N / sqrt(K).
class GatedDeltaNet {
 public:
  /// `state` [K, V] is the state before the first token.
  /// Otherwise than a delta net lightning attention and Mamba-2 have no k^T S and take q and k as
  /// they are. Mamba-2 (arXiv:2405.21060) adds D v to an output, which is rounded twice.
  GatedDeltaNet(Eigen::MatrixXd state, double scale, bool is_delta_net = true);

  void step(const DeltaNetToken& token);

  [[nodiscard]] const Eigen::MatrixXd& state() const { return state_; }
  /// Per value dim: the last token's output, the most that it may be off, and about how much it is,
  /// the latter two in units of u.
  [[nodiscard]] const Eigen::RowVectorXd& out() const { return out_; }
  [[nodiscard]] const Eigen::RowVectorXd& out_error() const { return out_error_; }
  [[nodiscard]] const Eigen::RowVectorXd& out_noise() const { return out_noise_; }
  /// The same of each element of a state's column.
  [[nodiscard]] const Eigen::RowVectorXd& state_error() const { return error_; }
  [[nodiscard]] Eigen::RowVectorXd state_noise() const;

 private:
  Eigen::MatrixXd state_;
  double scale_;
  bool is_delta_net_;
  Eigen::RowVectorXd error_, noise_squared_;  ///< E and N^2 per column
  Eigen::RowVectorXd out_, out_error_, out_noise_;
};

}  // namespace attnbench::reference
