// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/measure/sample_source.h"
#include "lib/measure/statistics.h"

namespace attnbench {

/// The visits of one cell: keeps its samples, and decides when it is done.
class CellRun {
 public:
  CellRun(const SourcedCell& cell, const MeasureConfig& config);

  /// Until its samples can be taken; the block size follows. Returns early when `stop` returns
  /// true.
  void warm_up(const SampleSource::Stop& stop);

  /// The visit of `round`: a block of samples. Ends early, with the samples so far, when `stop`
  /// returns true or when the cell's time is up; a block that ends so counts if it has a sample.
  void visit(int round, const SampleSource::Stop& stop);

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] int rounds() const { return static_cast<int>(blocks_.size()); }
  /// CI half-width over the median of block medians; 0 while there is no 95 % interval.
  [[nodiscard]] double half_width() const;
  /// Estimated seconds until this cell is done.
  [[nodiscard]] double remaining_s() const;
  [[nodiscard]] const std::string& name() const { return cell_.name; }
  /// What was measured. `interrupted` marks cells that were not done.
  [[nodiscard]] CellTiming timing() const;

 private:
  /// Runs `step`; what it throws ends this cell with a status.
  void guarded(const std::function<void()>& step);
  void keep(const SampleBlock& block);
  void decide();
  [[nodiscard]] bool converged() const;
  [[nodiscard]] bool throttled() const;
  [[nodiscard]] double repeats() const { return static_cast<double>(cell_.repeats); }

  SourcedCell cell_;
  const MeasureConfig* config_;
  double settled_mhz_ = 0;  ///< 0: unknown, nothing is discarded

  int block_samples_ = 1;
  double spent_s_ = 0;    ///< in this cell: warm-up, flushes and untimed forwards included
  double blocks_s_ = 0;   ///< the part spent in blocks
  double sampled_s_ = 0;  ///< the part of that spent in samples
  std::vector<double> samples_us_;
  std::vector<double> enqueue_us_;
  std::vector<double> clocks_mhz_;
  int discarded_ = 0;
  int disturbed_ = 0;
  SlowClock slow_clock_;
  ClockEvents clock_events_;
  GpuSharers sharers_;
  std::vector<BlockMedian> blocks_;
  std::vector<double> ordered_us_;  ///< the medians of blocks_, ascending
  MedianInterval interval_;         ///< of the median of those
  bool done_ = false;
  MeasureStatus status_ = MeasureStatus::kInterrupted;  ///< until it is done
  std::string failure_;
};

}  // namespace attnbench
