// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceilings.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "lib/device/cpu/host_memory.h"
#include "lib/measure/measure.h"
#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

/// How much a processor's ceilings may cost: a smoke test waits for them more often than for its
/// cells.
struct Effort {
  double pass_s;  ///< least time for one rate
  std::int64_t least_stream_bytes;
};
constexpr Effort kFull{0.05, std::int64_t{256} << 20};
constexpr Effort kRough{0.02, std::int64_t{64} << 20};
/// In how many places at once a thread reads. A kernel that reads keys and values of several pages
/// beside each other has more misses under way than one that reads a single run of memory, which it
/// may exceed by a fifth: the ceiling is the best of these.
constexpr std::size_t kStreams[] = {1, 2, 8};
constexpr std::int64_t kMostStreamBytes = std::int64_t{2} << 30;
constexpr std::size_t kPageBytes = ResidentMemory::kPageBytes;
/// A slice of work takes well under a millisecond: most of them end before other work of a busy
/// machine gets a turn.
constexpr std::size_t kSliceBytes = std::size_t{4} << 20;
constexpr std::int64_t kSliceSteps = 1 << 18;
/// On a busy machine a pass may have little of a processor's time: their median is one of slices
/// that did not wait, as long as most did not.
constexpr std::size_t kFewestSlices = 24;

/// One slice of the work of a rate, of this thread.
using Slice = std::function<void(int thread)>;

/// What all threads do in a second together, each for at least a pass, in slices of `work` units
/// each. Each thread has the median of its own slices: one that has to wait for a processor loses a
/// slice, where a whole pass of the team would lose its figure, and cells that are shorter than
/// such a wait would exceed it.
double rate_of(int threads, double work, double pass_s, const Slice& run) {
  double rate = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
  {
    const Clock clock = real_clock();
    std::vector<double> rates;
    const double begin = clock();
    double now = begin;
    while (rates.size() < kFewestSlices || now - begin < pass_s) {
      const double before = now;
      run(omp_get_thread_num());
      now = clock();
      rates.push_back(work / std::max(now - before, 1e-9));
    }
    rate += median(rates);
  }
  // More threads than processors take turns.
  return rate * std::min(1.0, static_cast<double>(omp_get_num_procs()) / threads);
}

/// Words that threads stream through: so many slices for each, on page borders so that no two
/// threads touch a page. A thread goes round its own: a slice comes again when all others have
/// pushed it out of the caches, in whichever pass that is.
class StreamedWords {
 public:
  StreamedWords(std::int64_t bytes, int threads);

  [[nodiscard]] std::size_t bytes_of_slice() const { return words_ * sizeof(std::uint64_t); }
  [[nodiscard]] std::span<std::uint64_t> next_slice(int thread) {
    const auto part = static_cast<std::size_t>(thread);
    const std::size_t slice = taken_[part * kTakenApart]++ % slices_;
    return memory_.words().subspan((part * slices_ + slice) * words_, words_);
  }

 private:
  static constexpr std::size_t kTakenApart = 64 / sizeof(std::size_t);  ///< a cache line each

  std::size_t words_ = 0;   ///< of a slice
  std::size_t slices_ = 0;  ///< of a thread
  std::vector<std::size_t> taken_;
  ResidentMemory memory_;
};

StreamedWords::StreamedWords(std::int64_t bytes, int threads) {
  const std::size_t share = static_cast<std::size_t>(bytes) / static_cast<std::size_t>(threads);
  const std::size_t pages = std::max(std::min(share, kSliceBytes) / (2 * kPageBytes), 1ul) * 2;
  words_ = pages * kPageBytes / sizeof(std::uint64_t);
  slices_ = std::max(share / bytes_of_slice(), 1ul);
  taken_.resize(static_cast<std::size_t>(threads) * kTakenApart);
  memory_ = ResidentMemory(threads, slices_ * bytes_of_slice());
}

/// Twice the cache, so that one pass leaves nothing for the next, within a quarter of the memory.
std::int64_t stream_bytes(const DeviceInfo& info, const Effort& effort) {
  const std::int64_t bytes =
      std::clamp(2 * info.last_level_cache_bytes, effort.least_stream_bytes, kMostStreamBytes);
  return info.memory_bytes > 0 ? std::min(bytes, info.memory_bytes / 4) : bytes;
}

}  // namespace

Ceilings measure_ceilings(Device& device, int turns) {
  const DeviceInfo& info = device.info();
  if (info.kind == DeviceKind::kCuda) return measure_gpu_ceilings(device);
  const int threads = std::max(1, info.units);
  const Effort& effort = turns > 1 ? kFull : kRough;
  StreamedWords memory(stream_bytes(info, effort), threads);
  const auto bytes = static_cast<double>(memory.bytes_of_slice());

  // Results are written to volatile variables: nothing is optimised away.
  const auto read = [&](std::size_t streams) {
    return [&memory, streams](int thread) {
      [[maybe_unused]] const volatile std::uint64_t sum =
          sum_words(memory.next_slice(thread), streams);
    };
  };
  // The first half of a slice to the second: one half is read, and one written.
  const auto copy = [&](int thread) {
    const std::span<std::uint64_t> words = memory.next_slice(thread);
    const std::size_t half = words.size() / 2;
    std::memcpy(words.data() + half, words.data(), half * sizeof(std::uint64_t));
  };

  return best_of_turns(turns, [&] {
    Ceilings best;
    const auto raise = [&](double& ceiling, double work, const Slice& run) {
      ceiling = std::max(ceiling, rate_of(threads, work, effort.pass_s, run));
    };
    for (const std::size_t streams : kStreams) {
      raise(best.read_bytes_per_s, bytes, read(streams));
    }
    raise(best.copy_bytes_per_s, bytes, copy);
    for (const MultiplyAdd& each : multiply_adds(info.cpu_target)) {
      raise(best.flop_per_s, static_cast<double>(kSliceSteps * each.flop_per_step),
            [&](int) { [[maybe_unused]] const volatile float sum = each.run(kSliceSteps); });
    }
    return best;
  });
}

namespace {

/// Medians of a machine at rest repeat within a percent.
constexpr double kAgree = 0.02;

constexpr double Ceilings::*kRates[] = {&Ceilings::read_bytes_per_s, &Ceilings::copy_bytes_per_s,
                                        &Ceilings::flop_per_s};

}  // namespace

Ceilings best_of_turns(int most, const std::function<Ceilings()>& measure) {
  Ceilings best = measure();
  for (int turn = 1; turn < most; ++turn) {
    const Ceilings now = measure();
    bool agree = true;
    for (const auto rate : kRates) {
      agree = agree &&
              std::min(now.*rate, best.*rate) >= (1 - kAgree) * std::max(now.*rate, best.*rate);
      best.*rate = std::max(best.*rate, now.*rate);
    }
    if (agree) break;
  }
  return best;
}

}  // namespace attnbench
