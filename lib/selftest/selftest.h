// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/verify.h"

namespace attnbench {

/// What each fill alone says of one mutant.
struct SelftestRow {
  Fault fault = Fault::kNone;
  std::vector<Verification>
      by_fill;  ///< as SelftestMatrix::fills; the first failure over all cases

  [[nodiscard]] bool blamed() const;  ///< by at least one fill
  /// The reason of the first fill that blames it; empty when none does.
  [[nodiscard]] std::string reason() const;
};

/// A test of the checks themselves: a correct backend and mutants of it, verified on small cases.
struct SelftestMatrix {
  std::vector<Fill> fills;  ///< all six
  std::vector<std::string> cases;
  SelftestRow correct;
  std::vector<SelftestRow> mutants;  ///< one per fault

  /// Every mutant is blamed by some fill, and the correct backend passes all of them.
  [[nodiscard]] bool sound() const;
};

/// The cases of the selftest: between them every feature that a fault can break, small enough that
/// all mutants take seconds.
[[nodiscard]] std::vector<Case> selftest_cases();

/// Verifies the correct backend and the mutants of `faults` on `cases`, one fill at a time, where
/// `device` is: on a GPU the mutants are kernels, and there are none of recurrent layers.
[[nodiscard]] SelftestMatrix run_selftest(Device& device, const std::vector<Case>& cases,
                                          const std::vector<Fault>& faults);

}  // namespace attnbench
