// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/gate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/printable.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
  return text;
}

/// "::" as ": :" where a word begins with it: wherever lines are broken, none begins so. A name
/// such as flash_attn::fwd stays whole. Only printable ASCII is taken for the inside of a word.
std::string apart_at_beginnings(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = !out.empty() && out.back() > ' ' && out.back() < '\x7f';
    out += text[i];
    if (!inside && text.substr(i).starts_with("::")) out += ' ';
  }
  return out;
}

std::string percent(double ratio) { return fmt::format("{:+.1f}", (ratio - 1) * 100); }

/// A word of the summary for every verdict but SAME.
std::string_view counted_as(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kIncorrect:
      return "incorrect";
    case GateVerdict::kRegressed:
      return "regressed";
    case GateVerdict::kNotComparable:
      return "not comparable";
    case GateVerdict::kSuspect:
      return "suspect";
    case GateVerdict::kMissing:
      return "missing";
    case GateVerdict::kSkippedNow:
      return "skipped now";
    case GateVerdict::kNoVerdict:
      return "without a verdict";
    case GateVerdict::kInconclusive:
      return "inconclusive";
    case GateVerdict::kNew:
      return "new";
    case GateVerdict::kImproved:
      return "improved";
    case GateVerdict::kSame:
      return "the same";
    case GateVerdict::kNotRun:
      return "not run in either result";
  }
  return "";
}

/// "36 the same within 0.8 %".
std::string same_text(const GateReport& report, std::ptrdiff_t count) {
  double largest = 0;
  for (const Comparison& each : report.cells) {
    if (each.judgement.verdict != GateVerdict::kSame || !each.speed) continue;
    largest = std::max(largest, std::abs(each.speed->time.median - 1));
  }
  return count == 0 ? "0 the same"
                    : fmt::format("{} the same within {:.1f} %", count, 100 * largest);
}

}  // namespace

std::string plain_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\t', ' ');
  return replaced(apart_at_beginnings(line), "##[", "## [");
}

std::string change_text(double ratio) { return percent(ratio) + " %"; }

std::string interval_text(const RatioInterval& ratio) {
  return fmt::format("({} … {} %)", percent(ratio.lo), percent(ratio.hi));
}

std::string times_text(const Comparison& comparison) {
  if (!comparison.speed) return {};
  return time_text(comparison.speed->base_us) + " → " + time_text(comparison.speed->new_us);
}

std::string mode_text(const CellKey& cell) {
  return fmt::format("{}{}{}", to_string(cell.cache), cell.launch == LaunchMode::kGraph ? "/g" : "",
                     step_suffix(cell.step));
}

bool has_several_scenarios(const GateReport& report) {
  return std::ranges::any_of(report.cells, [&](const Comparison& each) {
    return each.cell.scenario != report.cells.front().cell.scenario;
  });
}

std::string case_text(const CellKey& cell, bool with_scenario) {
  return with_scenario ? cell.scenario + '/' + cell.case_id : cell.case_id;
}

std::string verdict_text(const Comparison& comparison) {
  const Judgement& judgement = comparison.judgement;
  const std::string word(to_string(judgement.verdict));
  return judgement.doubt == Doubt::kNone ? word
                                         : fmt::format("{}({})", word, to_string(judgement.doubt));
}

std::string why_text(const Comparison& comparison) {
  std::string text = comparison.judgement.reason;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  const GateVerdict verdict = comparison.judgement.verdict;
  const bool by_time = verdict == GateVerdict::kRegressed && text.empty();
  if (by_time || verdict == GateVerdict::kInconclusive) {
    add(fmt::format("allowed {:.2g} %", 100 * comparison.edge));
  }
  if (!comparison.converged) add("the figure of one side, or of both, did not converge");
  if (!comparison.counts()) add("allowed: " + comparison.allowed_because);
  return text;
}

bool is_listed(const Comparison& comparison) {
  const GateVerdict verdict = comparison.judgement.verdict;
  return verdict != GateVerdict::kSame && verdict != GateVerdict::kNotRun;
}

bool is_harm(const Comparison& comparison) {
  return comparison.counts() && comparison.judgement.verdict < GateVerdict::kNew;
}

std::vector<std::string> summary_parts(const GateReport& report) {
  std::vector<std::string> parts;
  std::ptrdiff_t allowed = 0, open = 0;
  for (const Comparison& each : report.cells) {
    allowed += each.counts() ? 0 : 1;
    open += each.converged ? 0 : 1;
  }
  for (const GateVerdict verdict : kGateVerdicts) {
    const auto count = std::ranges::count_if(
        report.cells, [&](const Comparison& each) { return each.judgement.verdict == verdict; });
    // These two are said in any case: a cell that silently vanished would look like a pass.
    const bool always = verdict == GateVerdict::kSame || verdict == GateVerdict::kMissing;
    if (count == 0 && !always) continue;
    parts.push_back(verdict == GateVerdict::kSame
                        ? same_text(report, count)
                        : fmt::format("{} {}", count, counted_as(verdict)));
  }
  if (allowed > 0) parts.push_back(fmt::format("{} allowed", allowed));
  if (open > 0) parts.push_back(fmt::format("{} did not converge", open));
  if (report.interrupted) parts.emplace_back("interrupted");
  return parts;
}

}  // namespace attnbench
