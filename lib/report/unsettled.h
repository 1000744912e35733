// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "lib/bench/record.h"

namespace attnbench {

/// What other programs took of a machine while a run went on.
struct OtherPrograms {
  double busy_processors = 0;  ///< mean over the run
  int processors = 0;          ///< of the machine

  /// More than a twentieth of the machine: enough to be seen in a figure.
  [[nodiscard]] bool disturb() const { return busy_processors > 0.05 * processors; }
};

/// Where most figures are noisy or ran into their timeout: how many, what kept them so, as far as
/// it is known, and which options help. Empty where most have converged. `precision`: asked for.
[[nodiscard]] std::string unsettled_text(const RunResult& run, double precision,
                                         const std::optional<OtherPrograms>& others);

}  // namespace attnbench
