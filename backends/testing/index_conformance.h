// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "backends/testing/conformance.h"
#include "lib/verify/step_support.h"

namespace attnbench::conformance {

/// The small cases as steps that build index arrays, of each form: right arrays, and nothing else
/// touched.
inline void expect_index_arrays(const Registry::Factory& make, Device& device) {
  int built = 0;
  for (const Case& small : cases()) {
    if (!why_not_built(small, StepPart::kIndex).empty() || small.kv_tokens() == 0) continue;
    for (const IndexForm form : kIndexForms) {
      Case c = with_step(small, StepPart::kIndex);
      c.index_form = form;
      const auto backend = make();
      ASSERT_TRUE(supports_step(backend->info(), c)) << c.id;
      ASSERT_TRUE(backend->supports(problem_of(c))) << c.id;
      Fixture fixture(c, device);
      VerifyConfig verify;
      verify.fills = {Fill::kNormal, Fill::kTiming};
      const Verification found =
          verify_backend(c, *backend, fixture, device, compute_truth(c, verify));
      EXPECT_EQ(found.verdict, Verdict::kPassed)
          << c.id << ' ' << to_string(form) << ": " << found.reason;
      EXPECT_EQ(found.slots_checked % 2, 0) << "each fill has the same arrays";
      ++built;
    }
  }
  EXPECT_GT(built, 100);
}

}  // namespace attnbench::conformance
