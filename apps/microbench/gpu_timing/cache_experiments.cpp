// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/microbench/gpu_timing/bench.cuh"
#include "lib/device/cuda/cache_flush.cuh"

namespace attnbench::gpu_timing {
namespace {

/// Ranges to rotate over, so that each is read again only after three times the L2: CUTLASS's rule.
std::int64_t rotation_sets(std::int64_t l2_bytes, std::int64_t bytes) {
  return 3 * l2_bytes / bytes + 2;
}

Work memset_of(std::byte* to, std::int64_t bytes) {
  return [to, bytes](Stream& on) {
    check_cuda(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), Bench::native(on)),
               "cudaMemsetAsync");
  };
}

Work flush_by(const CacheFlush& flush) {
  return [&flush](Stream& on) { flush.enqueue(Bench::native(on)); };
}

}  // namespace

void compare_flushes(const Bench& bench) {
  const std::int64_t l2 = bench.l2_bytes();
  const auto scratch = bench.device().allocate(static_cast<std::size_t>(2 * l2), "scratch");
  const auto half = static_cast<std::size_t>(l2 / 2);
  // CacheFlush reads twice the size that it is given.
  const CacheFlush read_once(half, Bench::native(bench.stream()));
  const CacheFlush read_twice(2 * half, Bench::native(bench.stream()));
  const CacheFlush read_four_times(4 * half, Bench::native(bench.stream()));
  bench.stream().synchronize();

  fmt::print("| read MB | before each sample | median us | q1-q3 us | GB/s |\n");
  fmt::print("|---:|---|---:|---:|---:|\n");
  for (const std::int64_t mb : {5, 20, 60, 200}) {
    const std::int64_t bytes = mb * kMb;
    const auto row = [&](const char* before, const Spread& spread) {
      fmt::print("| {} | {} | {:.2f} | {:.2f}-{:.2f} | {:.0f} |\n", mb, before, spread.median_us,
                 spread.q1_us, spread.q3_us, static_cast<double>(bytes) / spread.median_us / 1e3);
    };
    const Work read = bench.read(bytes);
    row("the same read (warm)", bench.spread_of(read, read));
    row("memset 1 x L2", bench.spread_of(memset_of(scratch->data(), l2), read));
    row("memset 2 x L2", bench.spread_of(memset_of(scratch->data(), 2 * l2), read));
    row("read 1 x L2", bench.spread_of(flush_by(read_once), read));
    row("read 2 x L2", bench.spread_of(flush_by(read_twice), read));
    row("read 4 x L2", bench.spread_of(flush_by(read_four_times), read));
    const std::int64_t sets = std::min(rotation_sets(l2, bytes), bench.noise_bytes() / bytes);
    if (bench.once()) continue;  // one sample does not rotate
    row("nothing, inputs rotate", bench.spread_of([&](int index) {
      return bench.timer().time(Bench::nothing(), bench.read(bytes, index % sets * bytes));
    }));
  }
}

void compare_many_node_graphs(const Bench& bench) {
  fmt::print("| read MB | timed | nodes | us per node | GB/s |\n|---:|---|---:|---:|---:|\n");
  for (const std::int64_t mb : {2, 8, 16}) {
    const std::int64_t bytes = mb * kMb;
    const std::int64_t sets = rotation_sets(bench.l2_bytes(), bytes);
    const std::int64_t nodes = std::max<std::int64_t>(20, sets);
    const auto row = [&](const char* what, std::int64_t count, const Work& work) {
      const auto graph = bench.device().record(bench.stream(), work);
      const Work replay = [&](Stream& on) { graph->replay(on); };
      replay(bench.stream());
      const double us =
          bench.spread_of(bench.flush(), replay).median_us / static_cast<double>(count);
      fmt::print("| {} | {} | {} | {:.2f} | {:.0f} |\n", mb, what, count, us,
                 static_cast<double>(bytes) / us / 1e3);
    };
    const auto repeat = [&](std::int64_t count, std::int64_t rotating_sets) -> Work {
      return [&bench, bytes, count, rotating_sets](Stream& on) {
        for (std::int64_t i = 0; i < count; ++i) bench.read(bytes, i % rotating_sets * bytes)(on);
      };
    };
    row("one read, flushed before", 1, repeat(1, 1));
    row("the same range in each node", nodes, repeat(nodes, 1));
    row("ranges rotate over 3 x L2", nodes, repeat(nodes, sets));
  }
}

}  // namespace attnbench::gpu_timing
