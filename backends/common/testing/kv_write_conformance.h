// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/testing/conformance.h"
#include "lib/verify/step_support.h"

// What a backend that writes this step's keys and values has to show, on any device.
namespace attnbench::kv_write_conformance {

/// Why the verification of a part of a step fails; empty when it passes or is not supported.
[[nodiscard]] inline std::string first_fault(const Registry::Factory& make, Case c, StepPart step,
                                             Device& device) {
  c.step = step;
  const auto backend = make();
  if (!supports_step(backend->info(), c) || !conformance::supports(*backend, c, device)) {
    return {};
  }
  Fixture fixture(c, device);
  const Verification found =
      conformance::verify_all_rows(*backend, c, conformance::kFills, device, fixture);
  EXPECT_GE(found.slots_checked, 6 * c.q_tokens()) << c.id;
  return is_failure(found.verdict) ? c.id + ": " + found.reason : std::string();
}

/// Every small case that it takes, alone and before attention; at least one of each.
inline void expect_all(const Registry::Factory& make, Device& device) {
  for (const StepPart step : {StepPart::kKvWrite, StepPart::kBoth}) {
    int taken = 0;
    for (Case c : conformance::cases()) {
      c.step = step;
      const auto backend = make();
      if (supports_step(backend->info(), c) && conformance::supports(*backend, c, device)) ++taken;
      EXPECT_EQ(first_fault(make, c, step, device), "") << to_string(step);
    }
    EXPECT_GT(taken, 0) << to_string(step);
  }
}

}  // namespace attnbench::kv_write_conformance
