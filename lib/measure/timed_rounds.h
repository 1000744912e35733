// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "lib/measure/clock.h"

namespace attnbench {

/// The visits of one cell: takes its samples, keeps them, and knows when it is done.
class CellRun {
 public:
  CellRun(const TimedCell& cell, const Clock& clock, Device& device, Stream& stream,
          const MeasureConfig& config);

  /// One untimed forward (lazy loading, page faults, thread start), then up to three samples from
  /// which the block size follows. Returns early when `stop` says so.
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
  double sample_us();
  void decide();

  const TimedCell* cell_;
  const Clock* clock_;
  Device* device_;
  Stream* stream_;
  const MeasureConfig* config_;

  int block_samples_ = 1;
  double spent_s_ = 0;   ///< in this cell: warm-up, flushes and untimed forwards included
  double blocks_s_ = 0;  ///< the part spent in blocks
  std::vector<double> samples_us_;
  std::vector<double> block_medians_us_;
  bool done_ = false;
  MeasureStatus status_ = MeasureStatus::kNoisy;
};

}  // namespace attnbench
