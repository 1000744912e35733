// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/batch/key_set.h"
#include "lib/verify/verify.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// ggml accepts 5e-4 for flash attention; wrong attention shows 0.5 and more at every length. This
/// lies between, wide enough for weights rounded to fp8.
constexpr double kIncorrectNmse = 0.05;

constexpr double kOneKeyWeight = 0.99;
constexpr double kOneKeyShare = 0.9;
constexpr double kZeroShare = 0.3;

/// "; it sees keys 167 to 199": which keys the mask lets a query through to, where they are one
/// range. Most wrong answers are a key too many or too few.
std::string seen_keys(const Case& c, const WorstElement& worst) {
  if (c.layer.is_recurrent() || worst.request < 0 || worst.token < 0) return {};
  const Request& request = c.requests[static_cast<std::size_t>(worst.request)];
  if (!request.tree_parents.empty() || !request.items.empty()) return {};
  const std::vector<KeyRun> runs =
      key_set_of(c.layer, request).runs(worst.token, c.layer.selection_group(worst.head));
  if (runs.empty()) return "; it sees no key";
  if (c.layer.compress_ratio > 0) {
    std::int64_t tokens = 0;
    for (const KeyRun& run : runs) {
      tokens += std::max<std::int64_t>(std::min(run.end, request.kv_len) - run.begin, 0);
    }
    return fmt::format("; it sees {} tokens and {} of {} compressed rows", tokens,
                       count_keys(runs) - tokens, c.layer.compressed_rows(request.kv_len));
  }
  if (c.layer.selection.exists()) {
    return fmt::format("; it sees {} chosen keys of {}", count_keys(runs), request.kv_len);
  }
  return fmt::format("; it sees keys {} to {} of {}", runs.front().begin, runs.back().end - 1,
                     request.kv_len);
}

std::string place(const Case& c, const ErrorMetrics& error) {
  const WorstElement& worst = error.worst;
  // Of a timed sample, which has data of its own, the caller says which one it was.
  std::string text = error.fill == to_string(Fill::kSample)
                         ? fmt::format("at request {}", worst.request)
                         : fmt::format("on fill {} at request {}", error.fill, worst.request);
  if (!worst.group.empty()) text += fmt::format(" ({})", worst.group);
  text += fmt::format(", head {}", worst.head);
  if (worst.state_row >= 0) text += fmt::format(", state row {}", worst.state_row);
  const bool of_step = worst.state_row >= 0 && c.mode != ForwardMode::kTargetVerify;
  if (!of_step) {
    text += fmt::format("{} query {}", worst.state_row < 0 ? "," : " behind", worst.token);
  }
  text += worst.dim < 0 ? ", LSE" : fmt::format(", dim {}", worst.dim);
  if (worst.page >= 0) text += fmt::format(", own key on page {}", worst.page);
  // Sums that cancel leave only roundings of the reference, which are shown as 0.
  const double want_value = std::fabs(worst.want) < 1e-12 * std::fabs(worst.got) ? 0 : worst.want;
  const auto [got, want] = told_apart(worst.got, want_value);
  return text + fmt::format(": got {}, want {}", got, want) + seen_keys(c, worst);
}

/// Why the outputs are wrong; empty when they are not. Each comparison is written so that NaN
/// fails.
std::string fault(const Case& c, const ErrorMetrics& error) {
  if (error.non_finite > 0) {
    return fmt::format("{} non-finite element{}, first {}", error.non_finite,
                       error.non_finite == 1 ? "" : "s", place(c, error));
  }
  if (!(error.bound_ratio <= 1) || !(error.lse_bound_ratio <= 1)) {
    // Of the two the one at the worst element: std::max would hide a NaN.
    const bool lse = error.worst.dim < 0;
    return fmt::format("{} exceeded {:.3g}x {}", lse ? "LSE bound" : "bound",
                       lse ? error.lse_bound_ratio : error.bound_ratio, place(c, error));
  }
  if (!(error.rms_ratio <= kIncorrectRms)) {
    return text_of_rms(error.rms_ratio, "random data");
  }
  if (!(error.nmse <= kIncorrectNmse)) {
    return fmt::format("squared error is {:.3g} of the output's own power (limit {})", error.nmse,
                       kIncorrectNmse);
  }
  return {};
}

/// Why agreement on random data proves little; empty when it does. Only normal and timing data are
/// asked: the others are odd on purpose (needles hold all the weight, tags average to zeros).
///
/// A bound that is wide beside the output is no reason, although it proves little by itself: on
/// random data A / |o| grows as sqrt(L), so that with bf16 every context beyond a few hundred keys
/// would be mistrusted. There rms_ratio, which is as sharp at every length, decides; the bound
/// decides on planted data, where it is a small part of the output.
std::string weakness(const FillTruth& truth) {
  if (truth.fill != Fill::kNormal && truth.fill != Fill::kTiming) return {};
  if (truth.rows.empty()) return {};
  std::size_t blind = 0, lone = 0, dominated = 0;
  for (const ReferenceRow& row : truth.rows) {
    blind += row.visible == 0 ? 1 : 0;
    lone += row.visible <= 1 ? 1 : 0;
    dominated += row.p_max > kOneKeyWeight ? 1 : 0;
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (blind == truth.rows.size()) return "no row sees a key, so nothing but zeros is tested";
  if (lone == truth.rows.size()) return "every row sees at most one key, so weights are not tested";
  if (share(dominated, truth.rows.size()) > kOneKeyShare) {
    return fmt::format("one key holds more than 99 % of the weight in {:.0f} % of the rows",
                       100 * share(dominated, truth.rows.size()));
  }
  return {};
}

}  // namespace

std::string text_of_rms(double ratio, std::string_view data) {
  const std::string errors =
      fmt::format("errors on {} are {:.3g}x the rounding noise of a correct backend ", data, ratio);
  if (ratio <= kIncorrectRms) return errors + fmt::format("(up to {} is usual)", kMistrustedRms);
  return errors +
         fmt::format("(limit {}): each is small, together they are no rounding", kIncorrectRms);
}

Verification judge(const Case& c, const ErrorMetrics& error, std::span<const FillTruth> truth) {
  Verification result;
  result.error = error;
  if (truth.empty()) return result;  // kNotVerified
  result.reason = fault(c, error);
  if (!result.reason.empty()) {
    result.verdict = Verdict::kIncorrect;
    return result;
  }
  result.verdict = Verdict::kMistrusted;
  if (error.rows == 0 && c.q_tokens() > 0) {
    result.reason = "no row was compared";
    return result;
  }
  // The backend's own zeros, of rows that see keys: outputs too small for their type agree with
  // anything that small.
  if (error.zero_share > kZeroShare) {
    result.reason =
        fmt::format("{:.0f} % of the outputs on random data are zeros", 100 * error.zero_share);
    return result;
  }
  if (error.rms_ratio > kMistrustedRms) {
    result.reason = text_of_rms(error.rms_ratio, "random data");
    return result;
  }
  const bool has_normal = std::ranges::find(truth, Fill::kNormal, &FillTruth::fill) != truth.end();
  for (const FillTruth& each : truth) {
    // A sample has a key that may outweigh a few others: where there are normal data, they tell.
    if (each.fill == Fill::kTiming && has_normal) continue;
    if (!c.layer.is_recurrent()) result.reason = weakness(each);
    if (!result.reason.empty()) return result;
  }
  result.verdict = Verdict::kPassed;
  return result;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotVerified:
      return "not verified";
    case Verdict::kPassed:
      return "passed";
    case Verdict::kMistrusted:
      return "MISTRUSTED";
    case Verdict::kIncorrect:
      return "INCORRECT";
    case Verdict::kUnsupported:
      return "unsupported";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kCrashed:
      return "CRASHED";
  }
  return "?";
}

bool is_failure(Verdict verdict) {
  return verdict == Verdict::kIncorrect || verdict == Verdict::kCrashed;
}

}  // namespace attnbench
