// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <omp.h>
#include <cstring>

#include <atomic>
#include <limits>
#include <span>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/device/cpu/cpu_info.h"
#include "lib/device/cpu/host_memory.h"
#include "lib/device/device.h"

namespace attnbench {
namespace {

/// Work on a CPU is done when its call returns.
class CpuStream final : public Stream {
 public:
  void synchronize() override {}
};

class CpuDevice final : public Device {
 public:
  CpuDevice(int threads, CpuTarget target)
      : info_{DeviceKind::kCpu,
              cpu_name(),
              cpu_arch(target),
              threads > 0 ? threads : omp_get_num_procs(),
              last_level_cache_bytes(),
              available_memory_bytes(),
              target} {
    omp_set_num_threads(info_.units);
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    // Asked for now, not at start: other fixtures may have come and gone. An overcommitting kernel
    // would grant the allocation and kill the process when the pages are touched. For a small one
    // the question costs more than all the rest, and a dozen files are read.
    constexpr std::size_t kWorthAsking = std::size_t{1} << 20;
    const std::int64_t available =
        bytes < kWorthAsking ? std::numeric_limits<std::int64_t>::max() : available_memory_bytes();
    if (static_cast<std::int64_t>(bytes) > available) {
      throw EnvironmentError(fmt::format("{} needs {:.1f} GB of memory, {:.1f} GB are available",
                                         what, static_cast<double>(bytes) / 1e9,
                                         static_cast<double>(available) / 1e9));
    }
    return make_guarded_buffer(bytes, what);
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CpuStream>();
  }

  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  void flush_cache(Stream&) override {
    constexpr std::int64_t kWordsPerLine = 64 / sizeof(std::uint64_t);
    if (flush_.words().empty()) {
      // Twice the cache: one pass over exactly its size leaves survivors, replacement being no true
      // LRU.
      const auto pages = static_cast<std::size_t>(
          ceil_div(2 * info_.last_level_cache_bytes,
                   info_.units * static_cast<std::int64_t>(ResidentMemory::kPageBytes)));
      flush_ = ResidentMemory(info_.units, pages * ResidentMemory::kPageBytes);
    }
    const std::span<const std::uint64_t> memory = flush_.words();
    std::uint64_t sum = 0;
    const auto words = static_cast<std::int64_t>(memory.size());
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (std::int64_t i = 0; i < words; i += kWordsPerLine) {
      sum += memory[static_cast<std::size_t>(i)];
    }
    // Every core reads its own share only; private L2 caches are far smaller than a share.
    sink_.store(sum, std::memory_order_relaxed);
  }

  void touch(Stream&, std::span<const std::span<const std::byte>> parts) override {
    for (const std::span<const std::byte> part : parts) read_lines(part);
  }

 private:
  void read_lines(std::span<const std::byte> memory) {
    constexpr std::int64_t kLine = 64;
    constexpr std::int64_t kWorthATeam = 1 << 18;  // less is read faster by one thread
    const auto bytes = static_cast<std::int64_t>(memory.size());
    std::uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static) if (bytes > kWorthATeam)
    for (std::int64_t i = 0; i < bytes; i += kLine) {
      sum += static_cast<std::uint64_t>(memory[static_cast<std::size_t>(i)]);
    }
    if (bytes > 0) sum += static_cast<std::uint64_t>(memory.back());  // in a line of its own, maybe
    sink_.store(sum, std::memory_order_relaxed);
  }

  DeviceInfo info_;
  ResidentMemory flush_;
  std::atomic<std::uint64_t> sink_{0};  // makes the reads observable
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int threads, CpuTarget target) {
  return std::make_unique<CpuDevice>(threads, target);
}

}  // namespace attnbench
