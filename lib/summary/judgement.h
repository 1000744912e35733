// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// What is said of a candidate as a whole. Ordered by weight: the heaviest that a cell gives
/// counts.
enum class CandidateVerdict : std::uint8_t {
  kAccepted,
  kInconclusive,  ///< neither right nor wrong is shown, or no time is
  kCrashed,
  kIncorrect,
  kCheatingSuspected,  ///< a speed that no honest program has, on a machine that was quiet
};
inline constexpr std::array kCandidateVerdicts = {
    CandidateVerdict::kAccepted, CandidateVerdict::kInconclusive, CandidateVerdict::kCrashed,
    CandidateVerdict::kIncorrect, CandidateVerdict::kCheatingSuspected};
[[nodiscard]] std::string_view to_string(CandidateVerdict verdict);  ///< "cheating suspected"
/// The exit code of a command that gives it: kOk, kInconclusive, and kIncorrect for all others.
[[nodiscard]] int verdict_exit_code(CandidateVerdict verdict);

/// How many times as fast as its rivals: a geometric mean, with its 95 % interval.
struct Score {
  double value = 0;
  double lo = 0, hi = 0;  ///< 0 where a cell has too few rounds for an interval
};

/// Why a verdict is not "accepted", or what a reader of a score should know.
struct VerdictReason {
  CandidateVerdict says;
  std::string text;
  std::string case_id, backend, cell;  ///< "cold, eager"; empty: of the candidate as a whole
  std::string repro;                   ///< runs the cell again; likewise
};

/// A case with times of both sides.
struct ScoredCase {
  std::string case_id;
  Score score;
  std::string rival;  ///< the fastest one, in the last cell
};

/// What held the candidate, as SECURITY.md numbers it, and what this system lacks of it.
struct HeldBy {
  int tier = 0;
  std::vector<std::string> missing{};
};

struct CandidateJudgement {
  CandidateVerdict verdict = CandidateVerdict::kInconclusive;
  std::optional<Score> score;  ///< of an accepted candidate
  std::vector<ScoredCase> cases;
  std::vector<VerdictReason> reasons;  ///< heaviest first
  HeldBy held{};
};

/// That of a candidate that did not come to a run.
[[nodiscard]] CandidateJudgement verdict_without_cells(CandidateVerdict verdict,
                                                       std::string reason);

/// Judges a run of `candidates`, the backends of one file, beside `rivals`.
///
/// A cell is scored with the time of the fastest right backend of either side. Of a launch mode
/// that a side does not have, its eager time counts, as in an engine. No time counts as shorter
/// than the cell's roofline. The score of a case is the geometric mean of its cells' ratios; that
/// of the candidate is the geometric mean over the cases.
///
/// The interval: each time's distance to the ends of its own interval, in logarithms, is an error
/// that does not depend on the others'; their squares add, each weighted as its ratio is.
[[nodiscard]] CandidateJudgement candidate_judgement(const RunResult& run,
                                                     const std::vector<std::string>& candidates,
                                                     const std::vector<std::string>& rivals);

}  // namespace attnbench
