// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/judgement_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lib/base/printable.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

bool has_interval(const Score& score) { return score.lo > 0; }

std::string score_text(const Score& score) {
  if (!has_interval(score)) return fmt::format("{} (no interval)", three_digits(score.value));
  return fmt::format("{} ({} to {})", three_digits(score.value), three_digits(score.lo),
                     three_digits(score.hi));
}

Json score_json(const Score& score) {
  Json json{{"value", score.value}, {"lo", nullptr}, {"hi", nullptr}};
  if (has_interval(score)) json["lo"] = score.lo, json["hi"] = score.hi;
  return json;
}

std::string reason_line(const VerdictReason& reason) {
  std::string where = reason.case_id;
  for (const std::string* part : {&reason.backend, &reason.cell}) {
    if (!part->empty()) where += ", " + *part;
  }
  return fmt::format("  {}{}{}\n", where, where.empty() ? "" : ": ", printable(reason.text));
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string judgement_text(const CandidateJudgement& judgement) {
  std::string text(to_string(judgement.verdict));
  if (judgement.score) text += fmt::format(": score {}", score_text(*judgement.score));
  text += '\n';
  std::size_t width = 0;
  for (const ScoredCase& each : judgement.cases) {
    width = std::max(width, display_width(each.case_id));
  }
  for (const ScoredCase& each : judgement.cases) {
    text += fmt::format("  {}  {}  against {}\n", fit_left(each.case_id, width),
                        score_text(each.score), each.rival);
  }
  constexpr std::size_t kMostReasons = 5;
  const std::size_t count = judgement.reasons.size();
  for (std::size_t i = 0; i < std::min(count, kMostReasons); ++i) {
    text += reason_line(judgement.reasons[i]);
  }
  if (count > kMostReasons) {
    text +=
        fmt::format("  and {}, which --json - has\n", counted(count - kMostReasons, "more reason"));
  }
  if (count > 0 && !judgement.reasons.front().repro.empty()) {
    text += fmt::format("  the first one again: {}\n", printable(judgement.reasons.front().repro));
  }
  if (judgement.held.tier > 0) {
    text += fmt::format("  held by tier {} of SECURITY.md{}{}\n", judgement.held.tier,
                        judgement.held.missing.empty() ? "" : "; ",
                        fmt::join(judgement.held.missing, "; "));
  }
  return text;
}

Json judgement_json(const CandidateJudgement& judgement) {
  Json json{{"verdict", to_string(judgement.verdict)},
            {"score", judgement.score ? score_json(*judgement.score) : Json()},
            {"cases", Json::array()},
            {"reasons", Json::array()},
            {"sandbox", Json()}};
  if (judgement.held.tier > 0) {
    json["sandbox"] = {{"tier", judgement.held.tier}, {"missing", judgement.held.missing}};
  }
  for (const ScoredCase& each : judgement.cases) {
    json["cases"].push_back(
        {{"case", each.case_id}, {"score", score_json(each.score)}, {"against", each.rival}});
  }
  for (const VerdictReason& each : judgement.reasons) {
    json["reasons"].push_back({{"verdict", to_string(each.says)},
                               {"reason", each.text},
                               {"case", text_or_null(each.case_id)},
                               {"backend", text_or_null(each.backend)},
                               {"cell", text_or_null(each.cell)},
                               {"repro", text_or_null(each.repro)}});
  }
  return json;
}

}  // namespace attnbench
