// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "apps/microbench/gpu_timing/bench.cuh"
#include "lib/device/cuda/handles.cuh"

namespace attnbench::gpu_timing {
namespace {

/// Two events around a launch on an idle stream: what most benchmarks do.
TimedSample time_without_blocker(const Bench& bench, const Work& work, cudaEvent_t begin,
                                 cudaEvent_t end) {
  const cudaStream_t stream = Bench::native(bench.stream());
  bench.stream().synchronize();
  check_cuda(cudaEventRecord(begin, stream), "cudaEventRecord");
  work(bench.stream());
  check_cuda(cudaEventRecord(end, stream), "cudaEventRecord");
  bench.stream().synchronize();
  float ms = 0;
  check_cuda(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  return {static_cast<double>(ms) * 1e3, 0, 0};
}

}  // namespace

void compare_blocking(const Bench& bench) {
  const EventHandle begin = make_event_handle();
  const EventHandle end = make_event_handle();
  fmt::print(
      "| work | timed | min us | median us | max us | enqueue us |\n"
      "|---|---|---:|---:|---:|---:|\n");
  const auto rows = [&](const std::string& name, const Work& work) {
    const auto row = [&](const char* how, const Spread& spread) {
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, how, spread.min_us,
                 spread.median_us, spread.max_us, spread.enqueue_us);
    };
    const auto graph = bench.device().record(bench.stream(), work);
    const Work replay = [&](Stream& on) { graph->replay(on); };
    replay(bench.stream());
    row("two events, idle stream", bench.spread_of([&](int) {
      return time_without_blocker(bench, work, begin.get(), end.get());
    }));
    row("blocker, eager", bench.spread_of(Bench::nothing(), work));
    row("blocker, graph", bench.spread_of(Bench::nothing(), replay));
    row("blocker, graph, after a flush", bench.spread_of(bench.flush(), replay));
  };
  rows("1 empty kernel", Bench::empty_kernels(1));
  rows("10 empty kernels", Bench::empty_kernels(10));
  for (const double us : {2.0, 5.0, 10.0, 50.0})
    rows(fmt::format("spin {} us", us), Bench::spin(us));
}

void fill_the_queue(const Bench& bench) {
  fmt::print(
      "| launches behind the blocker | enqueued in us | on the device us |\n|---:|---:|---:|\n");
  for (const int count : {10, 100, 500, 900, 1000, 1010, 1020, 1030, 2000}) {
    try {
      const TimedSample sample = bench.timer().time(Bench::nothing(), Bench::empty_kernels(count));
      fmt::print("| {} | {:.0f} | {:.0f} |\n", count, sample.enqueue_us, sample.us);
    } catch (const HostSyncError&) {
      fmt::print("| {} | waits for the release | |\n", count);
      break;
    }
  }
  const auto graph = bench.device().record(bench.stream(), Bench::empty_kernels(5000));
  const Work replay = [&](Stream& on) { graph->replay(on); };
  replay(bench.stream());
  const TimedSample sample = bench.timer().time(Bench::nothing(), replay);
  fmt::print("| 5000 in a graph | {:.0f} | {:.0f} |\n", sample.enqueue_us, sample.us);
}

}  // namespace attnbench::gpu_timing
