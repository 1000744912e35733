// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/error.h"
#include "lib/verify/compared_fixtures.h"
#include "lib/verify/likely_cause.h"
#include "lib/verify/null_candidates.h"
#include "lib/verify/row_of_keys.h"
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
std::string cause_in(const Case& c, const Observation& observed, std::span<const FillTruth> truth,
                     const ErrorMetrics& error) {
  if (c.layer.is_recurrent()) return {};
  for (const std::string_view fill :
       {to_string(Fill::kNormal), to_string(Fill::kTiming), std::string_view(error.fill)}) {
    for (std::size_t i = 0; i < observed.fills.size(); ++i) {
      if (to_string(truth[i].fill) != fill) continue;
      const auto cause = cause_of_worst(c, checked_contents(c, truth[i].fill), observed.numerics,
                                        error.worst, truth[i].rows, observed.fills[i].rows);
      if (cause && !cause->empty()) return *cause;
      if (!cause) continue;
      const auto other = most_telling(c, observed.numerics, truth[i], observed.fills[i].rows);
      if (!other || is_same_row(*other, error.worst)) return {};
      return cause_of_worst(c, checked_contents(c, truth[i].fill), observed.numerics, *other,
                            truth[i].rows, observed.fills[i].rows)
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

}  // namespace attnbench
