// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// How much of its bounds an error takes; a NaN takes more than any number.
double closeness(const ErrorMetrics& error) {
  const double ratio = std::max(error.bound_ratio, error.lse_bound_ratio);
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

/// -1 not tested, 0 no, 1 yes: no where one part says no, yes where all that were tested say yes.
int of_both(int one, int other) {
  if (one == 0 || other == 0) return 0;
  return std::max(one, other);
}

void add(Verification& whole, const Verification& part, const std::string& id) {
  const std::int64_t rows = whole.error.rows + part.error.rows;
  const std::int64_t non_finite = whole.error.non_finite + part.error.non_finite;
  if (whole.error.rows == 0 || closeness(part.error) > closeness(whole.error)) {
    whole.error = part.error;
  }
  whole.error.rows = rows;
  whole.error.non_finite = non_finite;
  if (part.verdict > whole.verdict) {
    whole.verdict = part.verdict;
    whole.reason = part.reason.empty() ? "" : fmt::format("{}: {}", id, part.reason);
  }
  BitwiseProperties& bits = whole.bitwise;
  bits.repeatable = of_both(bits.repeatable, part.bitwise.repeatable);
  bits.page_permutation_invariant =
      of_both(bits.page_permutation_invariant, part.bitwise.page_permutation_invariant);
  bits.batch_invariant = of_both(bits.batch_invariant, part.bitwise.batch_invariant);
  whole.slots_checked += part.slots_checked;
  whole.first_use_us += part.first_use_us;
  if (part.kernel.empty()) return;
  whole.kernel += (whole.kernel.empty() ? "" : " + ") + part.kernel;
}

}  // namespace

StepTruths compute_step_truths(const Case& c, const VerifyConfig& config) {
  StepTruths truths;
  for (const Case& step : steps_of(c)) truths.push_back(compute_truth(step, config));
  return truths;
}

WantedRows wanted_rows(const StepTruths& truths, int compositions) {
  std::vector<WantedRows> parts;
  for (const std::vector<FillTruth>& truth : truths) {
    parts.push_back(wanted_rows(truth));
    parts.back().compositions = compositions;
  }
  if (parts.size() == 1) return std::move(parts.front());
  WantedRows wanted;
  wanted.parts = std::move(parts);
  return wanted;
}

Verification conclude(const Case& c, const Observation& observed, const StepTruths& truths) {
  if (c.parts.empty()) return conclude(c, observed, truths.front());
  expects(observed.parts.size() <= c.parts.size() && truths.size() == c.parts.size(),
          "observations of other parts");
  Verification whole;
  for (std::size_t i = 0; i < observed.parts.size(); ++i) {
    add(whole, conclude(c.parts[i], observed.parts[i], truths[i]), c.parts[i].id);
  }
  return whole;
}

}  // namespace attnbench
