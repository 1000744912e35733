// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lib/measure/ceiling_kernels.h"
#include "lib/measure/clock.h"
#include "lib/measure/gpu_ceilings.h"
#include "lib/measure/measure.h"
#include "lib/measure/multiply_add.h"
#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

/// How much a processor's ceilings may cost.
struct Effort {
  double passes_s;  ///< time for the passes of one rate
  std::size_t least_passes;
  std::int64_t least_stream_bytes;
  double (*rate_of)(std::span<const double> passes);
};
constexpr Effort kFull{0.1, 3, std::int64_t{256} << 20, median};
/// Of a single turn, whose figure is rough: a smoke test waits for it more often than for its
/// cells. It has few passes, and on a busy machine other work slows most of them, so that a cell
/// could exceed their median: the fastest counts.
constexpr Effort kRough{0.02, 1, std::int64_t{64} << 20,
                        [](std::span<const double> passes) { return std::ranges::max(passes); }};
/// In how many places at once a thread reads. A kernel that reads keys and values of several pages
/// beside each other has more misses under way than one that reads a single run of memory, which it
/// may exceed by a fifth: the ceiling is the best of these.
constexpr std::size_t kStreams[] = {1, 2, 8};
constexpr std::int64_t kMostStreamBytes = std::int64_t{2} << 30;
constexpr std::int64_t kPageBytes = 4096;

/// The rate of passes that each do `work` units.
double rate_of_passes(double work, const Effort& effort, const std::function<void()>& pass) {
  const Clock clock = real_clock();
  std::vector<double> rates;
  const double begin = clock();
  double now = begin;
  while (rates.size() < effort.least_passes || now - begin < effort.passes_s) {
    const double before = now;
    pass();
    now = clock();
    rates.push_back(work / std::max(now - before, 1e-9));
  }
  return effort.rate_of(rates);
}

/// The part of `words` that thread `part` of `parts` works on, on page borders so that no two
/// threads touch a page.
std::span<std::uint64_t> share_of(std::span<std::uint64_t> words, int part, int parts) {
  constexpr std::size_t kWordsPerPage = kPageBytes / sizeof(std::uint64_t);
  const std::size_t pages = words.size() / kWordsPerPage;
  const auto border = [&](int i) {
    return pages * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) * kWordsPerPage;
  };
  return words.subspan(border(part), border(part + 1) - border(part));
}

/// Twice the cache, so that one pass leaves nothing for the next, within a quarter of the memory.
std::int64_t stream_bytes(const DeviceInfo& info, const Effort& effort) {
  std::int64_t bytes =
      std::clamp(2 * info.last_level_cache_bytes, effort.least_stream_bytes, kMostStreamBytes);
  if (info.memory_bytes > 0) bytes = std::min(bytes, info.memory_bytes / 4);
  return std::max(bytes / (2 * kPageBytes), std::int64_t{1}) * 2 * kPageBytes;
}

}  // namespace

Ceilings measure_ceilings(Device& device, int turns) {
  const DeviceInfo& info = device.info();
  if (info.kind == DeviceKind::kCuda) return measure_gpu_ceilings(device);
  const int threads = std::max(1, info.units);
  const Effort& effort = turns > 1 ? kFull : kRough;
  const std::int64_t bytes = stream_bytes(info, effort);
  const auto count = static_cast<std::size_t>(bytes) / sizeof(std::uint64_t);
  // Not a vector: that would touch every page from this one thread.
  const std::unique_ptr<std::uint64_t[]> memory(new std::uint64_t[count]);
  const std::span<std::uint64_t> words(memory.get(), count);

  // First touch by the thread that will read: pages then lie in its own memory.
#pragma omp parallel num_threads(threads)
  std::ranges::fill(share_of(words, omp_get_thread_num(), omp_get_num_threads()), 1u);

  volatile std::uint64_t sum_sink = 0;
  const auto read = [&](std::size_t streams) {
    std::uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += sum_words(share_of(words, omp_get_thread_num(), omp_get_num_threads()), streams);
    sum_sink = sum;
  };

  // Each thread copies the first half of its share to the second: the half is read and written.
  const auto copy = [&] {
#pragma omp parallel num_threads(threads)
    {
      const auto share = share_of(words, omp_get_thread_num(), omp_get_num_threads());
      const std::size_t half = share.size() / 2;
      std::memcpy(share.data() + half, share.data(), half * sizeof(std::uint64_t));
    }
  };

  // About a millisecond a pass on a current core: long against starting the threads.
  constexpr std::int64_t kSteps = 1 << 20;
  volatile float fma_sink = 0;
  const auto run_chains = [&](const MultiplyAdd& chains) {
    float sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += chains.run(kSteps);
    fma_sink = sum;
  };

  Ceilings best;
  const auto raise = [&](double& ceiling, double work, const std::function<void()>& pass) {
    ceiling = std::max(ceiling, rate_of_passes(work, effort, pass));
  };
  for (int turn = 0; turn < turns; ++turn) {
    for (const std::size_t streams : kStreams) {
      raise(best.read_bytes_per_s, static_cast<double>(bytes), [&] { read(streams); });
    }
    raise(best.copy_bytes_per_s, static_cast<double>(bytes), copy);
    for (const MultiplyAdd& each : multiply_adds(info.cpu_target)) {
      raise(best.flop_per_s, static_cast<double>(kSteps * each.flop_per_step) * threads,
            [&] { run_chains(each); });
    }
  }
  return best;
}

}  // namespace attnbench
