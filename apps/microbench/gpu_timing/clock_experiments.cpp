// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "apps/microbench/gpu_timing/bench.cuh"
#include "lib/device/cuda/check.cuh"
#include "lib/measure/device_samples.h"
#include "lib/measure/measure.h"
#include "lib/measure/statistics.h"

namespace attnbench::gpu_timing {
namespace {

Work tensor_work(const Bench& bench, TensorData data) {
  return [work = tensor_work_of(bench.device().info(), data), sink = bench.sink()](Stream& on) {
    work.enqueue(on, sink);
  };
}

/// Below 0.95 of `settled_mhz`, of 400 cold samples.
double share_discarded(const Bench& bench, const Work& work, double settled_mhz) {
  int discarded = 0;
  constexpr int kSamples = 400;
  for (int i = 0; i < kSamples; ++i) {
    const double mhz = bench.timer().time(bench.flush(), work).clock_mhz;
    if (mhz > 0 && mhz < 0.95 * settled_mhz) ++discarded;
  }
  return static_cast<double>(discarded) / kSamples;
}

}  // namespace

void watch_clocks_settle(const Bench& bench) {
  fmt::print(
      "| load | SM MHz in windows of 0.1 s | short preheat MHz | its s | discarded at 0.95 "
      "| events |\n|---|---|---:|---:|---:|---|\n");
  const auto row = [&](const char* name, const Work& work) {
    double preheat_s = 0;
    const double settled = settled_clock_mhz([&](double seconds) {
      preheat_s += seconds;
      return bench.timer().clock_mhz_over(seconds, bench.flush(), work);
    });
    const double discarded = share_discarded(bench, work, settled);
    std::string windows;
    ClockEvents events;
    for (int i = 0; i < 30; ++i) {
      windows += fmt::format("{:.0f} ", bench.timer().clock_mhz_over(0.1, Bench::nothing(), work));
      events |= bench.device().clock_events();
    }
    fmt::print("| {} | {}| {:.0f} | {:.2f} | {:.1f} % | {} |\n", name, windows, settled, preheat_s,
               100 * discarded, to_string(events));
  };
  row("read 200 MB", bench.read(200 * kMb));
  row("tensor cores, random data", tensor_work(bench, TensorData::kRandom));
}

void measure_same_twice(const Bench& bench) {
  std::vector<std::pair<std::string, Work>> works;
  for (const std::int64_t mb : {1, 4, 8, 16, 32, 64, 128, 512}) {
    works.emplace_back(fmt::format("read {} MB", mb), bench.read(mb * kMb));
  }
  for (const double us : {5.0, 20.0, 200.0}) {
    works.emplace_back(fmt::format("spin {} us", us), Bench::spin(us));
  }
  works.emplace_back("tensor cores", tensor_work(bench, TensorData::kRandom));

  fmt::print(
      "| cell | launch | A us | A' us | A'/A - 1 | half-width | rounds | status |\n"
      "|---|---|---:|---:|---:|---:|---:|---|\n");
  std::vector<double> deviations;
  for (const auto& [name, work] : works) {
    std::vector<TimedCell> cells;
    for (const LaunchMode launch : {LaunchMode::kGraph, LaunchMode::kEager}) {
      cells.insert(cells.end(), 2, TimedCell{name, CacheState::kCold, work, launch});
    }
    const std::vector<CellTiming> timings = measure_cells(cells, bench.device(), {}, 1, {});
    for (std::size_t i = 0; i < cells.size(); i += 2) {
      const double ratio = timings[i + 1].median_us / timings[i].median_us - 1;
      deviations.push_back(std::abs(ratio));
      fmt::print("| {} | {} | {:.3f} | {:.3f} | {:+.2f} % | {:.2f} % | {} | {} |\n", name,
                 to_string(cells[i].launch), timings[i].median_us, timings[i + 1].median_us,
                 100 * ratio, 100 * timings[i].half_width(), timings[i].rounds,
                 to_string(timings[i].status));
    }
  }
  fmt::print("\n{} pairs: median deviation {:.2f} %, 90th percentile {:.2f} %, largest {:.2f} %\n",
             deviations.size(), 100 * median(deviations), 100 * quantile(deviations, 0.9),
             100 * quantile(deviations, 1));
}

void compare_data(const Bench& bench) {
  const std::int64_t bytes = 512 * kMb;
  const auto zeros = bench.device().allocate(static_cast<std::size_t>(bytes), "zeros");
  check_cuda(cudaMemsetAsync(zeros->data(), 0, static_cast<std::size_t>(bytes),
                             Bench::native(bench.stream())),
             "cudaMemsetAsync");
  fmt::print("| work | data | median us | SM MHz |\n|---|---|---:|---:|\n");
  const auto row = [&](const char* work, const char* data, const Work& run) {
    static_cast<void>(bench.timer().clock_mhz_over(0.5, bench.flush(), run));
    const Spread spread = bench.spread_of(bench.flush(), run);
    fmt::print("| {} | {} | {:.1f} | {:.0f} |\n", work, data, spread.median_us, spread.clock_mhz);
  };
  row("read 512 MB", "noise", bench.read(bytes));
  row("read 512 MB", "zeros",
      [&](Stream& on) { enqueue_read(on, zeros->data(), bytes, bench.sink()); });
  row("tensor cores", "random", tensor_work(bench, TensorData::kRandom));
  row("tensor cores", "zeros", tensor_work(bench, TensorData::kZeros));
}

}  // namespace attnbench::gpu_timing
