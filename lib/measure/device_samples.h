// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lib/measure/measure.h"
#include "lib/measure/sample_source.h"

namespace attnbench {

/// Calls `run_for`, which keeps the device busy for that many seconds and returns its mean clock,
/// until three successive windows lie within 1 % of each other, or for 3 s. Returns the last
/// window's clock; 0 as soon as a window has none. A short window is enough that agrees with
/// `before`, the clock that the device has just settled at; 0: it has not.
[[nodiscard]] double settled_clock_mhz(const std::function<double(double seconds)>& run_for,
                                       double before = 0);

/// Samples of a cell on a device of this process.
class DeviceSamples final : public SampleSource {
 public:
  /// Without a `timer`, by `clock`. Device, stream and timer must outlive it.
  DeviceSamples(TimedCell cell, Clock clock, Device& device, Stream& stream, SampleTimer* timer);

  void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) override;
  /// What was not warmed up begins with one untimed forward, and the recording of a graph.
  void take(SampleBlock& block, int count, double left_s, const Stop& stop) override;

  /// TimedSample::lead_us of a device that does nothing else; 0 until the first `take` has found
  /// it.
  [[nodiscard]] double idle_lead_us() const { return idle_lead_us_; }
  void expect_idle_lead(double us) { idle_lead_us_ = us; }

 private:
  [[nodiscard]] bool is_loaded() const { return static_cast<bool>(prepare_); }
  void load();
  void update(Stream& stream) const;
  /// Of this cell's samples, with all that precedes their work and none of it.
  void find_idle_lead();
  /// What may be done before the cache is flushed: the next sample's keys, and poisoned outputs.
  void renew_memory(Stream& stream) const;
  /// Of the samples so far; empty where samples are not checked.
  [[nodiscard]] std::string damage();
  /// The next of `left` samples, this one included.
  TimedSample sample(int left);
  /// Of the sample just taken.
  [[nodiscard]] SampleOutputs outputs() const;

  TimedCell cell_;
  Clock clock_;
  Device* device_;
  Stream* stream_;
  SampleTimer* timer_;
  std::unique_ptr<Recording> graph_;
  Work prepare_;
  Work settle_cache_;  ///< empty: it stays as `prepare_` leaves it
  Work launch_;
  double idle_lead_us_ = 0;
  std::int64_t staged_ = 0;        ///< samples whose contents are ready
  std::int64_t first_number_ = 0;  ///< of the contents of the latest sample's sets
  std::int64_t watched_set_ = 0;   ///< whose outputs the latest sample had copied
};

}  // namespace attnbench
