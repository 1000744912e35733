// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

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

}  // namespace attnbench
