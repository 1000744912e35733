// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/measure.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/measure/device_samples.h"
#include "lib/measure/statistics.h"
#include "lib/measure/timed_rounds.h"

namespace attnbench {
namespace {

/// A permutation of 0 .. count - 1. Not std::shuffle, whose draws differ between standard
/// libraries: the order of visits is part of what a seed reproduces.
std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::uint64_t key = combine(seed, static_cast<std::uint64_t>(round));
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[combine(key, i) % i]);
  }
  return order;
}

}  // namespace

std::string_view to_string(MeasureStatus status) {
  switch (status) {
    case MeasureStatus::kConverged:
      return "converged";
    case MeasureStatus::kNoisy:
      return "noisy";
    case MeasureStatus::kTimeout:
      return "not converged";
    case MeasureStatus::kThrottled:
      return "throttled";
    case MeasureStatus::kHostSync:
      return "host sync";
    case MeasureStatus::kFailed:
      return "failed";
    case MeasureStatus::kInterrupted:
      return "interrupted";
    case MeasureStatus::kNotMeasured:
      return "not measured";
  }
  return "?";
}

namespace {

/// In rounds, until every cell is done. `clock` is for the progress line alone.
std::vector<CellTiming> rounds_by(const Clock& clock, std::span<const SourcedCell> cells,
                                  const MeasureConfig& config, std::uint64_t seed,
                                  const MeasureHooks& hooks) {
  bool stopped = false;
  const auto stop = [&] {
    stopped = stopped || (hooks.stop_requested && hooks.stop_requested());
    return stopped;
  };
  const double begin = clock();
  std::vector<CellRun> runs;
  runs.reserve(cells.size());
  for (const SourcedCell& cell : cells) runs.emplace_back(cell, config);
  for (CellRun& run : runs) {
    if (!stop()) run.warm_up(stop);
  }

  const auto all_done = [&] {
    return std::ranges::all_of(runs, [](const CellRun& run) { return run.done(); });
  };
  for (int round = 0; !all_done() && !stop(); ++round) {
    for (const std::size_t index : order_of_round(runs.size(), seed, round)) {
      CellRun& run = runs[index];
      if (run.done()) continue;
      run.visit(round, stop);
      if (stop()) break;
      if (!hooks.progress) continue;
      double remaining_s = 0;
      for (const CellRun& each : runs) remaining_s += each.remaining_s();
      hooks.progress({run.name(), round + 1, run.half_width(), clock() - begin, remaining_s});
    }
  }

  std::vector<CellTiming> timings;
  timings.reserve(runs.size());
  for (const CellRun& run : runs) timings.push_back(run.timing());
  return timings;
}

}  // namespace

std::vector<CellTiming> measure_in_rounds(std::span<const SourcedCell> cells,
                                          const MeasureConfig& config, std::uint64_t seed,
                                          const MeasureHooks& hooks) {
  return rounds_by(real_clock(), cells, config, seed, hooks);
}

std::vector<CellTiming> measure_cells_by(const Clock& clock, std::span<const TimedCell> cells,
                                         Device& device, const MeasureConfig& config,
                                         std::uint64_t seed, const MeasureHooks& hooks) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<SampleTimer> timer = device.make_timer(*stream);
  std::vector<std::unique_ptr<DeviceSamples>> samples;
  std::vector<SourcedCell> sourced;
  for (const TimedCell& cell : cells) {
    samples.push_back(std::make_unique<DeviceSamples>(cell, clock, device, *stream, timer.get()));
    sourced.push_back({cell.name, samples.back().get(), cell.repeats});
  }
  return rounds_by(clock, sourced, config, seed, hooks);
}

std::vector<CellTiming> measure_cells(std::span<const TimedCell> cells, Device& device,
                                      const MeasureConfig& config, std::uint64_t seed,
                                      const MeasureHooks& hooks) {
  return measure_cells_by(real_clock(), cells, device, config, seed, hooks);
}

Clock real_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

HostTiming time_host(const std::function<void()>& work, int repeats) {
  expects(repeats > 0, "time_host needs at least one repeat");
  const Clock clock = real_clock();
  std::vector<double> us;
  us.reserve(static_cast<std::size_t>(repeats));
  for (int i = 0; i < repeats; ++i) {
    const double begin = clock();
    work();
    us.push_back((clock() - begin) * 1e6);
  }
  return {median(us), *std::ranges::max_element(us)};
}

}  // namespace attnbench
