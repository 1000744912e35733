// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/measure/clock.h"

namespace attnbench {

/// The visits of one cell: takes its samples, keeps them, and knows when it is done.
class CellRun {
 public:
  /// Without a `timer`, by `clock`.
  CellRun(const TimedCell& cell, const Clock& clock, Device& device, Stream& stream,
          SampleTimer* timer, const MeasureConfig& config);

  /// One untimed forward (lazy loading, page faults, thread start), the recording of a graph, and
  /// runs until the device's clock has settled; then up to three samples from which the block size
  /// follows. Returns early when `stop` says so.
  void warm_up(const std::function<bool()>& stop);

  /// One visit: a block of samples. Ends early, with what it has, when `stop` says so or when the
  /// cell's time is up; a block that ends so counts if it has a sample.
  void visit(const std::function<bool()>& stop);

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] int rounds() const { return static_cast<int>(block_medians_us_.size()); }
  /// CI half-width over the median of block medians; 0 while there is no 95 % interval.
  [[nodiscard]] double half_width() const;
  /// Estimated seconds until this cell is done.
  [[nodiscard]] double remaining_s() const;
  [[nodiscard]] const TimedCell& cell() const { return *cell_; }
  /// What was measured. `interrupted` marks cells that were not done.
  [[nodiscard]] CellTiming timing() const;

 private:
  /// Runs `step`; what it throws ends this cell with a status.
  void guarded(const std::function<void()>& step);
  void load_and_record();
  void take_first_samples(double begin, const std::function<bool()>& stop);
  void take_block(const std::function<bool()>& stop);
  TimedSample sample();
  void keep_block();
  void decide();
  [[nodiscard]] bool converged() const;
  [[nodiscard]] bool throttled() const;

  const TimedCell* cell_;
  const Clock* clock_;
  Device* device_;
  Stream* stream_;
  SampleTimer* timer_;
  const MeasureConfig* config_;
  std::unique_ptr<Recording> graph_;
  Work prepare_;
  Work launch_;
  double settled_mhz_ = 0;  ///< 0: unknown, nothing is discarded

  int block_samples_ = 1;
  double spent_s_ = 0;   ///< in this cell: warm-up, flushes and untimed forwards included
  double blocks_s_ = 0;  ///< the part spent in blocks
  std::vector<TimedSample> block_;  ///< of the visit under way
  std::vector<double> samples_us_;
  std::vector<double> enqueue_us_;
  std::vector<double> clocks_mhz_;
  int discarded_ = 0;
  ClockEvents clock_events_;
  std::vector<double> block_medians_us_;
  bool done_ = false;
  MeasureStatus status_ = MeasureStatus::kNoisy;
  std::string failure_;
};

}  // namespace attnbench
