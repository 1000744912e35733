// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "lib/base/error.h"
#include "lib/verify/causes.h"
#include "lib/verify/compared_fixtures.h"
#include "lib/verify/likely_cause.h"
#include "lib/verify/own_lists.h"
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

/// The wrong row of a fill that sees most keys; none: all are right.
std::optional<WorstElement> most_telling(const Case& c, const Numerics& numerics,
                                         const FillTruth& truth, std::span<const std::byte> rows) {
  const std::size_t bytes = rows.size() / std::max<std::size_t>(truth.rows.size(), 1);
  std::optional<WorstElement> found;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < truth.rows.size(); ++i) {
    const ReferenceRow& row = truth.rows[i];
    if (row.visible <= most || agrees(c, numerics, row, rows.subspan(i * bytes, bytes))) continue;
    most = row.visible;
    found = WorstElement{.request = row.id.request, .token = row.id.token, .head = row.id.head};
  }
  return found;
}

bool is_same_row(const WorstElement& one, const WorstElement& other) {
  return one.request == other.request && one.token == other.token && one.head == other.head;
}

/// The usual mistake that gives the worst row, if one does. On random data every key tells, so that
/// a row that is wrong there is explained there: with all weight on one key, a wrong page looks
/// like a key too few. Where nothing explains the worst row, one of more keys may say more.
std::string cause_in(const Case& c, const Observation& observed, const JudgedFills& fills,
                     const ErrorMetrics& error) {
  const std::span<const FillTruth> truth = fills.truth();
  if (c.layer.is_recurrent()) return {};
  for (const std::string_view fill :
       {to_string(Fill::kNormal), to_string(Fill::kTiming), std::string_view(error.fill)}) {
    for (std::size_t i = 0; i < observed.fills.size(); ++i) {
      if (to_string(truth[i].fill) != fill) continue;
      const Case& judged = fills.case_of(i);
      const Contents contents = checked_contents(c, truth[i].fill);
      const auto cause = cause_of_worst(judged, contents, observed.numerics, error.worst,
                                        truth[i].rows, observed.fills[i].rows);
      if (cause && !cause->empty()) return *cause;
      if (!cause) continue;
      const auto other = most_telling(judged, observed.numerics, truth[i], observed.fills[i].rows);
      if (!other || is_same_row(*other, error.worst)) return {};
      return cause_of_worst(judged, contents, observed.numerics, *other, truth[i].rows,
                            observed.fills[i].rows)
          .value_or("");
    }
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
  const JudgedFills fills(c, observed, truth);
  ErrorMetrics error;
  std::size_t worst = 0;  // the fill of the worst element
  for (std::size_t i = 0; i < observed.fills.size(); ++i) {
    accumulate_error(fills.case_of(i), observed.fills[i], fills.truth()[i], observed.numerics,
                     error);
    if (error.fill == to_string(truth[i].fill)) worst = i;
  }
  Verification result;
  if (attends(c.step)) {
    result = judge(fills.case_of(worst), error, fills.truth());
    const double ratio = std::max(error.bound_ratio, error.lse_bound_ratio);
    if (result.verdict == Verdict::kPassed) {
      result.reason = fills.passing_null_candidate(observed.numerics);
      if (!result.reason.empty()) result.verdict = Verdict::kMistrusted;
    }
    if (result.verdict == Verdict::kIncorrect) {
      result.reason += cause_in(c, observed, fills, error);
    }
    // A recurrent layer has neither logits nor weights to round.
    if (result.verdict == Verdict::kIncorrect && !c.layer.is_recurrent() && ratio > 1 &&
        ratio < kMostByRounding) {
      result.reason += declared(observed.numerics);
    }
  } else if (!truth.empty()) {
    result.verdict = observed.slots_checked > 0 ? Verdict::kPassed : Verdict::kMistrusted;
    if (observed.slots_checked == 0) result.reason = "nothing was written";
  }
  if (result.verdict == Verdict::kPassed && !observed.odd_damage.empty()) {
    result.verdict = Verdict::kMistrusted;
    result.reason = text_of_odd_damage(observed.odd_damage.front(), "run");
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

std::string text_of_odd_damage(std::string_view damage, std::string_view repeated) {
  return fmt::format(
      "{}, and not when the {} was repeated: another backend of this process may have done it",
      damage, repeated);
}

Verification verify_backend(const Case& c, Backend& backend, Fixture& fixture, Device& device,
                            std::span<const FillTruth> truth) {
  ComparedFixtures others(device, 0);
  return conclude(c, observe_backend(c, backend, fixture, device, wanted_rows(truth), others),
                  truth);
}

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
