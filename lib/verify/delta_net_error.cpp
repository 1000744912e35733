// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/error_model.h"

namespace attnbench {

ErrorModel::Row ErrorModel::delta_net_row(const ReferenceRow& reference) const {
  constexpr double kSmallestF32 = 0x1p-126;  // a normal number; below it a product may become 0
  Row row{};
  const bool of_state = reference.id.state_row >= 0;
  // The state is stored as it was computed, and the rounding of its last sum is in A already.
  row.u_out = of_state ? 0 : u_out_;
  row.half_subnormal = of_state ? 0 : half_subnormal_;
  // A request without tokens computes nothing, so that nothing underflows.
  const bool computed = reference.a.empty() || reference.a.front() > 0 || !of_state;
  row.underflow = computed ? dims_ * kSmallestF32 : 0;
  row.per_a = u_acc_;
  row.noise_per_b = u_acc_;
  return row;
}

}  // namespace attnbench
