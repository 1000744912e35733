// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/gate/gate_text.h"
#include "lib/gate/speed.h"

namespace attnbench {

struct RunResult;

/// Who is faster: the interval of the ratio new / base lies above 1, below it, or holds it.
enum class Lead : std::uint8_t { kBase, kNew, kTie };
[[nodiscard]] Lead lead_of(const SpeedEvidence& speed);

/// Two backends at one value of the axis, measured in one run; or two cases, one after the other.
struct CrossoverPoint {
  std::int64_t value = 0;
  SpeedEvidence speed{};
  std::string problem{};  ///< why there is no ratio: "paged_fa: INCORRECT: 3 NaN"; empty: there is
};

/// What to search along.
struct CrossoverAxis {
  std::int64_t from = 0, to = 0;  ///< both are probed; from < to
  int most_points = 16;
};

/// Neighbours that differ by less than this part of the smaller one are close enough.
inline constexpr double kCrossoverPrecision = 0.05;
/// Points between two ends that agree, before these are believed.
inline constexpr int kCrossoverBetween = 3;

/// The value to measure next, given what is known; none: the search is over. The ends come first,
/// then the middle of the widest gap, on a logarithmic scale, between neighbours with different
/// leads; where all agree, the widest gaps, until kCrossoverBetween values lie between the ends.
/// A middle is rounded to a power of two of at most 1 / 32 of it, so that pages and tiles are
/// mostly full. A point with a problem ends the search.
[[nodiscard]] std::optional<std::int64_t> next_probe(std::span<const CrossoverPoint> points,
                                                     const CrossoverAxis& axis);

/// Neighbouring values with the same lead.
struct CrossoverStretch {
  Lead lead = Lead::kTie;
  std::int64_t first = 0, last = 0;
};
/// Of the points without a problem, in ascending order of their values.
[[nodiscard]] std::vector<CrossoverStretch> stretches_of(std::span<const CrossoverPoint> points);

/// A change of winner between two values; what lies between them are ties, if anything was
/// measured.
struct CrossoverBracket {
  Lead before = Lead::kTie, after = Lead::kTie;  ///< one is kBase, the other kNew
  std::int64_t low = 0, high = 0;                ///< the last value before, the first one after
};
/// In ascending order; empty: there is no crossover.
[[nodiscard]] std::vector<CrossoverBracket> brackets_of(
    std::span<const CrossoverStretch> stretches);

struct CrossoverReport {
  std::string case_id, axis, base, now;     ///< the last two are backends
  std::vector<CrossoverPoint> points = {};  ///< ascending
  std::string ended = {};    ///< why earlier than at the precision; empty: it was not
  bool interrupted = false;  ///< by a stop that was asked for
  /// What the new side ran, where that is another case; empty: both ran case_id.
  std::string new_case = {};
  std::string step = {};      ///< of the base
  std::string new_step = {};  ///< of the new side, where that is another one; else empty
};

/// What tells a side from the other: its case where there are two, else its backend, else its step.
/// Not of kTie.
[[nodiscard]] const std::string& side_of(const CrossoverReport& report, Lead lead);

/// Measures one value; none: a stop was asked for meanwhile.
using CrossoverProbe = std::function<std::optional<CrossoverPoint>(std::int64_t value)>;

/// Searches along the axis and fills in points, ended and interrupted.
void search_crossover(const CrossoverAxis& axis, const CrossoverProbe& probe,
                      CrossoverReport& report);

/// "crossover between 3,072 and 3,328: splitkv up to 3,072, paged_fa from 3,328".
[[nodiscard]] std::string crossover_text(const CrossoverReport& report);

/// A table of what was measured, the ratio over the axis as a plot, and where they cross.
void write_crossover_terminal(const CrossoverReport& report, const TextOptions& options,
                              std::ostream& out);

/// The same for machines. `run`: what was measured, which tells machine and scenario.
void write_crossover_json(const CrossoverReport& report, const RunResult& run, int exit_code,
                          std::ostream& out);

}  // namespace attnbench
