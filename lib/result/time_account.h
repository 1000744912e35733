// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

namespace attnbench {

/// What the wall time of a run was spent on, in seconds. Every moment counts once: the parts add up
/// to RunResult::wall_s.
struct TimeAccount {
  double starting = 0;        ///< devices, processes of backends, backends
  double ceilings = 0;        ///< measuring them
  double building = 0;        ///< fixtures: memory, contents, hashes
  double reference = 0;       ///< rows in float64, and comparing timed samples with them
  double first_use = 0;       ///< first plan and first run of each backend
  double verifying = 0;       ///< the other runs of a verification, and judging them
  double planning = 0;        ///< plans that are timed, recorded ones and index arrays
  double samples = 0;         ///< what was timed itself
  double around_samples = 0;  ///< the rest of the rounds: flushes, contents, checks, waiting
  double other = 0;

  [[nodiscard]] double measuring() const { return samples + around_samples; }
};

/// A part of the account, as people and result files read it.
struct TimePart {
  const char* key;          ///< in JSON
  const char* description;  ///< for the schema
  double TimeAccount::*seconds;
};
inline constexpr std::array kTimeParts = {
    TimePart{"starting", "Opening devices, starting processes and backends",
             &TimeAccount::starting},
    TimePart{"ceilings", "Measuring the ceilings", &TimeAccount::ceilings},
    TimePart{"building", "Fixtures: memory, contents and hashes", &TimeAccount::building},
    TimePart{"reference", "Rows in float64, and comparing timed samples with them",
             &TimeAccount::reference},
    TimePart{"first_use", "First plan and first run of each backend", &TimeAccount::first_use},
    TimePart{"verifying", "Other runs of the verification, and judging them",
             &TimeAccount::verifying},
    TimePart{"planning", "Plans that are timed, recorded plans, index arrays",
             &TimeAccount::planning},
    TimePart{"samples", "What was timed itself", &TimeAccount::samples},
    TimePart{"around_samples", "The rest of the rounds: flushes, contents, checks, waiting",
             &TimeAccount::around_samples},
    TimePart{"other", "What is in no other part", &TimeAccount::other}};

/// Sum of the parts.
[[nodiscard]] constexpr double sum_of_parts(const TimeAccount& account) {
  double sum = 0;
  for (const TimePart& part : kTimeParts) sum += account.*part.seconds;
  return sum;
}

constexpr void add(TimeAccount& all, const TimeAccount& further) {
  for (const TimePart& part : kTimeParts) all.*part.seconds += further.*part.seconds;
}

/// Adds the seconds from its construction to its end.
class Lap {
 public:
  explicit Lap(double& part) : part_(&part) {}
  ~Lap() { *part_ += seconds(); }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

  /// So far.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Up to `seconds` of the lap belong to another part.
  void give(double seconds, double& other) {
    const double given = std::min(seconds, this->seconds() - given_);
    given_ += given;
    other += given;
    *part_ -= given;
  }

 private:
  double* part_;
  double given_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace attnbench
