// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "reference/oracle.h"

namespace attnbench::reference {

inline void expect_near(std::span<const double> found, std::span<const double> wanted,
                        double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t d = 0; d < found.size(); ++d) {
    EXPECT_NEAR(found[d], wanted[d], tolerance) << "entry " << d;
  }
}

/// O and LSE agree to 1e-12 of their size.
inline void expect_same_result(const ReferenceRow& found, const ReferenceRow& wanted) {
  expect_near(found.out, wanted.out, 1e-12);
  if (std::isinf(wanted.lse)) {
    EXPECT_EQ(found.lse, wanted.lse);
  } else {
    EXPECT_NEAR(found.lse, wanted.lse, 1e-12 * std::max(1.0, std::fabs(wanted.lse)));
  }
}

}  // namespace attnbench::reference
