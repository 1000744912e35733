// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/host_memory.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// The number that a file begins with; a cgroup without a limit says "max".
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The number behind `name` in a file of lines "name number".
std::optional<std::int64_t> number_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string word;
    std::int64_t value = 0;
    if (fields >> word >> value && word == name) return value;
  }
  return std::nullopt;
}

struct CgroupFiles {
  const char* limit;
  const char* used;
  const char* file_pages;  ///< in memory.stat
};
constexpr CgroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                "total_inactive_file"};
constexpr CgroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};

std::int64_t left_in(const std::string& folder, const CgroupFiles& files) {
  const auto limit = number_in(folder + files.limit);
  const auto used = number_in(folder + files.used);
  if (!limit || !used) return kNoLimit;
  const std::int64_t pages = number_of(folder + "/memory.stat", files.file_pages).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - pages));
}

/// The least of a cgroup and those above it, which lie above it as folders. A container that sees
/// no more than its own finds that at `mount` itself.
std::int64_t left_in_all(const std::string& mount, std::string path, const CgroupFiles& files) {
  std::int64_t left = left_in(mount, files);
  while (path.size() > 1) {
    left = std::min(left, left_in(mount + path, files));
    path.erase(path.rfind('/'));
  }
  return left;
}

std::int64_t left_in_cgroups(const std::string& root) {
  std::int64_t left = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");  // lines of "number:controllers:path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    if (controllers.empty()) {
      left = std::min(left, left_in_all(root + "/sys/fs/cgroup", path, kVersion2));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      left = std::min(left, left_in_all(root + "/sys/fs/cgroup/memory", path, kVersion1));
    }
  }
  return left;
}

std::int64_t left_of_address_space(const std::string& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const std::int64_t pages = number_in(root + "/proc/self/statm").value_or(0);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t available_memory_bytes(const std::string& root) {
  const auto free_kib = number_of(root + "/proc/meminfo", "MemAvailable:");
  return std::min(
      {free_kib ? *free_kib << 10 : kNoLimit, left_in_cgroups(root), left_of_address_space(root)});
}

void set_bytes(std::span<std::byte> memory, std::byte value) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const auto parts = static_cast<std::int64_t>((memory.size() + kPart - 1) / kPart);
#pragma omp parallel for schedule(static) if (parts > 4)
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * kPart;
    std::memset(memory.data() + begin, std::to_integer<int>(value),
                std::min(kPart, memory.size() - begin));
  }
}

namespace {

constexpr std::size_t kAlignment =
    256;  // a cache line of any CPU, and what device allocators promise
constexpr std::size_t kGuardBytes = 4096;
constexpr auto kGuardPattern = std::byte{0xa5};
constexpr auto kPoison = std::byte{0xff};  // NaN in every float type

class GuardedBuffer final : public Buffer {
 public:
  GuardedBuffer(std::size_t bytes, std::byte* memory) : bytes_(bytes), memory_(memory) {
    GuardedBuffer::restore_guards();
    set_bytes({data(), bytes_}, kPoison);
  }

  [[nodiscard]] std::byte* data() noexcept override { return memory_.get() + kGuardBytes; }
  [[nodiscard]] std::size_t size() const noexcept override { return bytes_; }

  [[nodiscard]] bool guards_intact() const override {
    const auto untouched = [](std::byte b) { return b == kGuardPattern; };
    const std::byte* const after = memory_.get() + kGuardBytes + bytes_;
    return std::all_of(memory_.get(), memory_.get() + kGuardBytes, untouched) &&
           std::all_of(after, after + kGuardBytes, untouched);
  }

  void restore_guards() override {
    std::fill_n(memory_.get(), kGuardBytes, kGuardPattern);
    std::fill_n(memory_.get() + kGuardBytes + bytes_, kGuardBytes, kGuardPattern);
  }

 private:
  struct Release {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete[](memory, std::align_val_t{kAlignment});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Release> memory_;
};

}  // namespace

std::unique_ptr<Buffer> make_guarded_buffer(std::size_t bytes, std::string_view what) {
  void* memory =
      ::operator new[](bytes + 2 * kGuardBytes, std::align_val_t{kAlignment}, std::nothrow);
  if (memory == nullptr) {
    throw EnvironmentError(fmt::format("no memory for {}: {} bytes were asked for", what, bytes));
  }
  return std::make_unique<GuardedBuffer>(bytes, static_cast<std::byte*>(memory));
}

namespace {

/// Gives each page of the words memory of its own. One call takes half the time of a fault for each
/// page, but Linux has it since 5.14 only.
void make_resident(std::span<std::uint64_t> words) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(words.data(), words.size_bytes(), MADV_POPULATE_WRITE) == 0) return;
#endif
  std::ranges::fill(words, 1u);
}

}  // namespace

ResidentMemory::ResidentMemory(int threads, std::size_t part_bytes)
    : words_(static_cast<std::size_t>(threads) * part_bytes / sizeof(std::uint64_t)) {
  memory_.reset(static_cast<std::uint64_t*>(
      std::aligned_alloc(kPageBytes, static_cast<std::size_t>(threads) * part_bytes)));
  if (memory_ == nullptr) throw std::bad_alloc();
  const std::size_t part_words = part_bytes / sizeof(std::uint64_t);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int part = 0; part < threads; ++part) {
    make_resident(words().subspan(static_cast<std::size_t>(part) * part_words, part_words));
  }
}

void ResidentMemory::Free::operator()(std::uint64_t* memory) const { std::free(memory); }

}  // namespace attnbench
