// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cost/cost.h"
#include "lib/device/device.h"
#include "lib/fixture/sample_io.h"
#include "lib/measure/statistics.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// The inputs of timed samples and their checks: a sample passes only if its own launch has
/// computed its outputs. The members must outlive the samples.
struct CheckedInputs {
  SampleIo* io = nullptr;               ///< null: samples without inputs, which are not checked
  SampleNumbers* numbers = nullptr;     ///< shared by all cells of the fixtures
  std::function<std::string()> damage;  ///< memory that a visit must not change but did,
                                        ///< named once and then restored; empty if none
  /// What the latest sample, of this number, left wrong of outputs that are compared whole: the
  /// arrays that a step builds. Asked before `damage`, and named once; empty if nothing.
  std::function<std::string(std::int64_t number)> wrong_outputs = {};
};

/// One thing to time: `forward` enqueues one sample on the given stream.
struct TimedCell {
  std::string name;  ///< for the progress line and a profiler's timeline
  CacheState cache = CacheState::kCold;
  Work forward;
  LaunchMode launch = LaunchMode::kEager;  ///< kGraph: recorded once, replayed for each sample
  /// kGraph: plans the step that the replay computes, before each sample and untimed; empty where
  /// the recording serves one step only.
  Work update = {};
  std::int64_t bytes = 0;  ///< that a forward has to move; for a timeline
  /// kServing: memory that is read after the flush, the last of it last.
  std::vector<std::span<const std::byte>> serving = {};
  std::int64_t repeats = 1;  ///< forwards that `forward` enqueues; times are of one of them
  CheckedInputs inputs = {};
};

enum class MeasureStatus : std::uint8_t {
  kConverged,
  kNoisy,
  kTimeout,      ///< its time was over before it had converged
  kThrottled,    ///< the device slowed down in more than a tenth of the samples
  kHostSync,     ///< forward waits or allocates: it can be neither queued nor captured
  kFailed,       ///< forward or the device threw
  kInterrupted,  ///< ended early by the stop request; its figures are measured
  kNotMeasured,
};
inline constexpr MeasureStatus kMeasureStatuses[] = {
    MeasureStatus::kConverged,   MeasureStatus::kNoisy,      MeasureStatus::kTimeout,
    MeasureStatus::kThrottled,   MeasureStatus::kHostSync,   MeasureStatus::kFailed,
    MeasureStatus::kInterrupted, MeasureStatus::kNotMeasured};
[[nodiscard]] std::string_view to_string(MeasureStatus status);

/// The median of one visit's samples.
struct BlockMedian {
  int round = 0;  ///< the same for all cells of a case; a round that kept no sample is left out
  double us = 0;
};

/// Visits that took much longer by the run's clock than by that of the process that took the
/// samples, and the sums of both: whoever slows a process's clock makes all in it seem fast.
struct SlowClock {
  int visits = 0;
  double process_s = 0;
  double run_s = 0;
};

/// Times of one forward of a cell. The unit of replication is the round: lo and hi are the 95 %
/// order-statistic interval of the median of block medians.
struct CellTiming {
  MeasureStatus status = MeasureStatus::kNotMeasured;
  double median_us = 0;
  double lo_us = 0, hi_us = 0;
  double q1_us = 0, q3_us = 0, min_us = 0, max_us = 0;  ///< of all samples
  int rounds = 0;
  int samples = 0;

  // Of devices with a timer of their own; 0 elsewhere.
  double enqueue_us = 0;     ///< host time of the call that enqueues a sample, median
  double sm_mhz = 0;         ///< clock during the samples, median
  ClockEvents clock_events;  ///< of any block
  int disturbed = 0;         ///< samples before which the device was not idle (TimedSample)
  SlowClock slow_clock;      ///< of the process that took the samples
  GpuSharers sharers;        ///< of the device, the most at the end of any block
  int discarded = 0;         ///< samples taken below 0.95 of the settled clock, not counted above
  std::vector<BlockMedian> blocks;  ///< one a round, in their order
  double sampled_s = 0;             ///< of all samples together, those that were discarded, too
  std::string failure;              ///< what was thrown when the status is kHostSync or kFailed

  /// Whether its process counted less time than passed in nearly all visits. A busy machine delays
  /// some answers, not so many. Of a few it may delay all: by 8 ms each where 29.9 ms passed in
  /// three visits for 7.09, on two virtual processors beside another program.
  [[nodiscard]] bool clock_was_slow() const {
    constexpr double kMostDelayed = 0.75, kDelayS = 0.020;
    if (slow_clock.visits <= kMostDelayed * rounds) return false;
    const double hidden_s = slow_clock.run_s - slow_clock.process_s;
    return rounds >= kFewestRounds || hidden_s > kDelayS * slow_clock.visits;
  }
  /// Half of hi - lo over the median.
  [[nodiscard]] double half_width() const {
    return median_us > 0 ? (hi_us - lo_us) / 2 / median_us : 0;
  }
};

/// Where a measurement stands, for a progress line.
struct MeasureProgress {
  std::string_view cell;
  int round = 0;
  double half_width = 0;  ///< 0 before there is an interval
  double elapsed_s = 0;
  double remaining_s = 0;  ///< estimate
};

struct MeasureHooks {
  std::function<void(const MeasureProgress&)> progress;  ///< may be empty
  std::function<bool()> stop_requested;                  ///< may be empty; checked between samples
};

/// Times all cells of one case in rounds: every round visits each unfinished cell
/// once in an order drawn from `seed`; a visit is a block of samples. Cold samples flush the device
/// cache first, warm samples run the forward once untimed, serving ones flush and then read what a
/// step has just written. Each cell stops independently, with its own status; one whose forward
/// throws a runtime_error ends alone.
[[nodiscard]] std::vector<CellTiming> measure_cells(std::span<const TimedCell> cells,
                                                    Device& device, const MeasureConfig& config,
                                                    std::uint64_t seed, const MeasureHooks& hooks);

/// Median and largest of `repeats` host timings of `work`, in microseconds.
struct HostTiming {
  double median_us = 0;
  double max_us = 0;
};
[[nodiscard]] HostTiming time_host(const std::function<void()>& work, int repeats);

/// How many times a processor's ceilings are measured at most, unless a smoke test is wanted. Other
/// work on one of two cores halves a rate as long as it lasts, and with a ceiling that is too low,
/// correct figures are called impossible. So each ceiling is the best of this many medians, taken
/// over more than a second, or of two turns that agree (best_of_turns()). A single turn is a rough
/// figure that takes a tenth of a second.
inline constexpr int kCeilingTurns = 4;

/// Read, copy and multiply-add rates of this device, measured now. On a GPU the multiply-adds are
/// bf16 on its tensor cores, and one turn is enough.
[[nodiscard]] Ceilings measure_ceilings(Device& device, int turns = kCeilingTurns);

/// Times kernels of known length, where the device has a timer of its own, and throws
/// EnvironmentError when it is off by more than 2.5 % or 2 us: no figure would be worth printing.
void check_timer(Device& device);

/// Seconds since some fixed moment, never going back. Passed in so that the rounds can be tested
/// without waiting and without the noise of a real machine.
using Clock = std::function<double()>;

/// std::chrono::steady_clock.
[[nodiscard]] Clock real_clock();

/// measure_cells() by any clock.
[[nodiscard]] std::vector<CellTiming> measure_cells_by(const Clock& clock,
                                                       std::span<const TimedCell> cells,
                                                       Device& device, const MeasureConfig& config,
                                                       std::uint64_t seed,
                                                       const MeasureHooks& hooks);

}  // namespace attnbench
