// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/placed_samples.h"

namespace attnbench {

void PlacedSamples::warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) {
  placements_.front()->warm_up(first, enough_s, limit_s, stop);
}

void PlacedSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  DeviceSamples& placement = *placements_[visits_++ % placements_.size()];
  // All flush the same cache and write contents of the same sizes.
  placement.expect_idle_lead(placements_.front()->idle_lead_us());
  placement.take(block, count, left_s, stop);
}

}  // namespace attnbench
