// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/cpu_info.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace attnbench {
namespace {

/// "32768K" or "32M" as sysfs writes cache sizes.
std::int64_t cache_size(const std::string& text) {
  std::istringstream in(text);
  std::int64_t value = 0;
  char unit = ' ';
  in >> value >> unit;
  return unit == 'M' ? value << 20 : unit == 'K' ? value << 10 : value;
}

}  // namespace

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string cpu_arch(CpuTarget target) {
#if defined(__x86_64__)
  const std::string family = "x86-64 ";
#elif defined(__aarch64__)
  const std::string family = "aarch64 ";
#else
  const std::string family = "unknown ";
#endif
  return family + std::string(to_string(target));
}

std::int64_t last_level_cache_bytes() {
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::string text;
    if (file >> text) largest = std::max(largest, cache_size(text));
  }
#ifdef _SC_LEVEL3_CACHE_SIZE
  largest = std::max<std::int64_t>(largest, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  // Nothing reported (some virtual machines): assume a large server slice rather than none, so that
  // a cold sample stays cold.
  return largest > 0 ? largest : std::int64_t{32} << 20;
}

}  // namespace attnbench
