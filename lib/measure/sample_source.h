// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/measure/measure.h"

namespace attnbench {

/// What warming a cell up found.
struct WarmUp {
  double settled_mhz = 0;  ///< 0: unknown
  double sample_s = 0;  ///< wall time of a sample with what prepares it, the least of those tried
  double spent_s = 0;   ///< wall time so far, without the settling of a cold device
  std::string damage;   ///< CheckedInputs::damage after it
};

/// What the outputs held right behind one timed sample.
struct SampleOutputs {
  std::int64_t number = 0;                     ///< of its contents
  std::vector<std::byte> rows;                 ///< SampleIo::collected()
  std::vector<SampleIo::Unwritten> unwritten;  ///< of each step
};

/// The samples of one visit.
struct SampleBlock {
  std::vector<TimedSample> samples;
  std::vector<SampleOutputs> outputs;  ///< one a sample, where its inputs are checked
  std::string damage;                  ///< CheckedInputs::damage after the last of them
  double spent_s = 0;  ///< wall time of all that the visit did, by the clock of who did it
  /// The same by the run's own clock, where another process took the samples, until it said that
  /// they were taken; 0: no other process.
  double passed_s = 0;
  ClockEvents clock_events;           ///< at its end
  std::vector<GpuProcess> processes;  ///< on the device, at its end
};

/// Takes the samples of one cell, in this process or in another. It contains no statistics, rounds
/// or stopping rule.
///
/// Results are filled in as they come, so that a method that throws leaves what it has:
/// HostSyncError or another runtime_error ends the cell, with the matching status.
class SampleSource {
 public:
  using Stop = std::function<bool()>;

  virtual ~SampleSource() = default;
  SampleSource(const SampleSource&) = delete;  // one cell, one source
  SampleSource& operator=(const SampleSource&) = delete;

  /// One untimed forward (lazy loading, page faults, thread start), the recording of a graph, and
  /// runs until the device's clock has settled; then up to three samples, fewer when they have
  /// taken `enough_s` or the cell its `limit_s`.
  virtual void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) = 0;

  /// Up to `count` samples; ends early when `stop` returns true, or, after the first, when `left_s`
  /// are spent.
  virtual void take(SampleBlock& block, int count, double left_s, const Stop& stop) = 0;

 protected:
  SampleSource() = default;
};

/// A cell whose samples come from somewhere.
struct SourcedCell {
  std::string name;  ///< for the progress line
  SampleSource* samples = nullptr;
  std::int64_t repeats = 1;  ///< forwards in a sample; times are of one of them
};

/// measure_cells() wherever the samples are taken.
[[nodiscard]] std::vector<CellTiming> measure_in_rounds(std::span<const SourcedCell> cells,
                                                        const MeasureConfig& config,
                                                        std::uint64_t seed,
                                                        const MeasureHooks& hooks);

}  // namespace attnbench
