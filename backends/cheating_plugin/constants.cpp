// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cheating_plugin/cheats.h"

namespace cheats {

/// Reads nothing. It hopes that the roundings that it declares make any result right.
void writes_constants(Planned& planned) {
  const double begin = now_s();
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) {
      put_constant(planned, token, head, 1e-20f, 1e-3f);
    }
  }
  pace(planned, begin);
}

void claims_sums_in_e4m3(attnbench_numerics& numerics) { numerics.accumulator = ATTNBENCH_E4M3; }

void claims_partials_rounded_a_million_times(attnbench_numerics& numerics) {
  numerics.partial_out = ATTNBENCH_E5M2;
  numerics.partial_roundings = 1'000'000;
  numerics.lse = 0;
}

/// The most that attnbench takes.
void claims_partials_in_e5m2(attnbench_numerics& numerics) {
  numerics.partial_out = ATTNBENCH_E5M2;
  numerics.partial_roundings = 8;
  numerics.lse = 0;
}

}  // namespace cheats
