// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/verify/likely_cause.h"
#include "lib/verify/null_candidates.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// Wrong outputs come first. The reason of a mistrusted pass is left out.
std::string all_faults(const Verification& judged, const std::vector<std::string>& faults) {
  std::string all = judged.verdict == Verdict::kIncorrect ? judged.reason : std::string();
  for (const std::string& fault : faults) all += (all.empty() ? "" : "; ") + fault;
  return all;
}

/// Where the backend says that it rounds, which decides its bounds: an error that is a few times
/// too large often comes from a rounding that numerics() does not declare.
std::string declared(const Numerics& numerics) {
  return fmt::format(
      " (bounds of q.k in {}, weights in {}, sums in {}, partial results in {}, as numerics() "
      "declares)",
      to_string(numerics.qk_input), to_string(numerics.p), to_string(numerics.accumulator),
      to_string(numerics.partial_out));
}

/// The usual mistake that gives the worst row, if one does.
std::string cause_in(const Case& c, const Observation& observed, std::span<const FillTruth> truth,
                     const ErrorMetrics& error) {
  for (std::size_t i = 0; i < observed.fills.size(); ++i) {
    if (to_string(truth[i].fill) != error.fill) continue;
    return cause_of_worst(c, Contents(c, truth[i].fill), observed.numerics, error.worst,
                          truth[i].rows, observed.fills[i].rows);
  }
  return {};
}

/// Beyond this many times its bound no rounding explains an error.
constexpr double kMostByRounding = 1000;

}  // namespace

WantedRows wanted_rows(std::span<const FillTruth> truth) {
  WantedRows wanted;
  for (const FillTruth& each : truth) wanted.fills.push_back(each.fill);
  if (truth.empty()) return wanted;
  for (const ReferenceRow& row : truth.front().rows) wanted.rows.push_back(row.id);
  return wanted;
}

Verification conclude(const Case& c, const Observation& observed,
                      std::span<const FillTruth> truth) {
  expects(observed.fills.size() <= truth.size(), "fills that were not asked for");
  ErrorMetrics error;
  for (std::size_t i = 0; i < observed.fills.size(); ++i) {
    accumulate_error(c, observed.fills[i], truth[i], observed.numerics, error);
  }
  Verification result;
  if (attends(c.step)) {
    result = judge(c, error, truth);
    const double ratio = std::max(error.bound_ratio, error.lse_bound_ratio);
    if (result.verdict == Verdict::kPassed) {
      result.reason = passing_null_candidate(c, observed.numerics, truth);
      if (!result.reason.empty()) result.verdict = Verdict::kMistrusted;
    }
    if (result.verdict == Verdict::kIncorrect) {
      result.reason += cause_in(c, observed, truth, error);
    }
    // A recurrent layer has neither logits nor weights to round.
    if (result.verdict == Verdict::kIncorrect && !c.layer.is_recurrent() && ratio > 1 &&
        ratio < kMostByRounding) {
      result.reason += declared(observed.numerics);
    }
  } else if (!truth.empty()) {
    result.verdict = observed.slots_checked > 0 ? Verdict::kPassed : Verdict::kMistrusted;
    if (observed.slots_checked == 0) result.reason = "no slot was written";
  }
  result.slots_checked = observed.slots_checked;
  result.first_use_us = observed.first_use_us;
  result.kernel = observed.kernel;
  result.bitwise = observed.bitwise;
  const std::string faults = all_faults(result, observed.faults);
  if (!observed.crash.empty()) {
    // What was found before the crash often explains it.
    result.verdict = Verdict::kCrashed;
    result.reason = observed.crash + (faults.empty() ? "" : "; before that: " + faults);
  } else if (!observed.faults.empty()) {
    result.verdict = Verdict::kIncorrect;
    result.reason = faults;
  }
  return result;
}

Verification verify_backend(const Case& c, Backend& backend, Fixture& fixture, Device& device,
                            std::span<const FillTruth> truth) {
  return conclude(c, observe_backend(c, backend, fixture, device, wanted_rows(truth)), truth);
}

}  // namespace attnbench
