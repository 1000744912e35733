// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/record.h"

namespace attnbench {

double Record::gb_per_s() const {
  if (!claims_speed() || timing.median_us <= 0) return 0;
  return static_cast<double>(cost.bytes_unique) / timing.median_us / 1e3;
}

double Record::tflop_per_s() const {
  if (!claims_speed() || timing.median_us <= 0) return 0;
  return static_cast<double>(cost.flops) / timing.median_us / 1e6;
}

}  // namespace attnbench
