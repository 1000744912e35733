// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/gated_delta_net.h"

#include <cmath>
#include <utility>

namespace attnbench::reference {

Eigen::VectorXd l2_normalised(const Eigen::VectorXd& x) {
  constexpr double kEps = 1e-6;
  return x / std::sqrt(x.squaredNorm() + kEps);
}

GatedDeltaNet::GatedDeltaNet(Eigen::MatrixXd state, double scale, bool is_delta_net)
    : state_(std::move(state)),
      scale_(scale),
      is_delta_net_(is_delta_net),
      error_(Eigen::RowVectorXd::Zero(state_.cols())),
      noise_squared_(Eigen::RowVectorXd::Zero(state_.cols())) {}

void GatedDeltaNet::step(const DeltaNetToken& token) {
  const auto dims = static_cast<double>(state_.rows());
  const double n = dims + 4, m = is_delta_net_ ? dims / 2 + 4 : 0;
  const Eigen::ArrayXd decay = token.g.exp();
  const double slowest = decay.maxCoeff();
  const Eigen::VectorXd q = is_delta_net_ ? l2_normalised(token.q) : token.q;
  const Eigen::VectorXd k = is_delta_net_ ? l2_normalised(token.k) : token.k;

  state_.array().colwise() *= decay;
  const Eigen::RowVectorXd decayed = state_.colwise().norm();
  const Eigen::RowVectorXd decaying =
      ((9 + 2 * token.g.abs()).matrix().asDiagonal() * state_).colwise().norm();
  Eigen::RowVectorXd w = token.beta * token.v;
  if (is_delta_net_) w -= token.beta * (k.transpose() * state_);
  state_.noalias() += k * w;
  out_ = scale_ * (q.transpose() * state_) + token.skip * token.v;

  const Eigen::RowVectorXd size = state_.colwise().norm();
  error_ = slowest * error_ + decaying +
           (is_delta_net_ ? (n + m) * token.beta * k.norm() : 0) * decayed +
           (m + 4) * k.norm() * w.cwiseAbs() + size;
  out_error_ = scale_ * q.norm() * (error_ + (n + m) * size);

  noise_squared_ = slowest * slowest * noise_squared_ +
                   0.5 * (16 * decayed.cwiseAbs2() + w.cwiseAbs2() + size.cwiseAbs2());
  out_noise_ =
      scale_ * q.norm() * (noise_squared_ + 4 * size.cwiseAbs2()).cwiseSqrt() / std::sqrt(dims);
  if (token.skip == 0) return;
  const Eigen::RowVectorXd added = (token.skip * token.v).cwiseAbs() + out_.cwiseAbs();
  out_error_ += added;
  out_noise_ = (out_noise_.cwiseAbs2() + 0.5 * added.cwiseAbs2()).cwiseSqrt();
}

Eigen::RowVectorXd GatedDeltaNet::state_noise() const {
  return noise_squared_.cwiseSqrt() / std::sqrt(static_cast<double>(state_.rows()));
}

}  // namespace attnbench::reference
