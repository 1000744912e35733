// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/cpu_info.h"

#include <fmt/format.h>
#include <hwy/targets.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::array<std::pair<CpuTarget, std::string_view>, 4> kNames{
    {{CpuTarget::kAvx2, "avx2"},
     {CpuTarget::kAvx512, "avx512"},
     {CpuTarget::kAvx512Bf16, "avx512_bf16"},
     {CpuTarget::kNeon, "neon"}}};

}  // namespace

std::string_view to_string(CpuTarget target) {
  for (const auto& [key, name] : kNames) {
    if (key == target) return name;
  }
  return "?";
}

std::vector<CpuTarget> cpu_targets() {
#ifdef __x86_64__
  std::vector<CpuTarget> targets{CpuTarget::kAvx2};
  if ((hwy::SupportedTargets() & HWY_AVX3) == 0) return targets;
  targets.push_back(CpuTarget::kAvx512);
  if (__builtin_cpu_supports("avx512bf16")) targets.push_back(CpuTarget::kAvx512Bf16);
  return targets;
#else
  return {CpuTarget::kNeon};
#endif
}

CpuTarget best_cpu_target() { return cpu_targets().back(); }

CpuTarget cpu_target_named(std::string_view name) {
  const std::vector<CpuTarget> here = cpu_targets();
  std::string have;
  for (const CpuTarget target : here) have += fmt::format(" {}", to_string(target));
  const auto known =
      std::ranges::find(kNames, name, &std::pair<CpuTarget, std::string_view>::second);
  if (known == kNames.end()) {
    std::vector<std::string_view> names;
    for (const auto& each : kNames) names.push_back(each.second);
    const std::string likely = likely_names(name, names);
    throw ConfigError(fmt::format("unknown CPU target '{}'{}   this processor has:{}", name,
                                  likely.empty() ? "" : fmt::format("   did you mean {}?", likely),
                                  have));
  }
  if (std::ranges::find(here, known->first) == here.end()) {
    throw EnvironmentError(
        fmt::format("this processor has no {} instructions; it has:{}", name, have));
  }
  return known->first;
}

namespace {

/// "32768K" or "32M" as sysfs writes cache sizes.
std::int64_t cache_size(const std::string& text) {
  std::istringstream in(text);
  std::int64_t value = 0;
  char unit = ' ';
  in >> value >> unit;
  return unit == 'M' ? value << 20 : unit == 'K' ? value << 10 : value;
}

/// CPUs that this process may run on.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
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

std::int64_t last_level_cache_bytes(std::span<const int> cpus, const std::string& sysfs) {
  std::map<std::string, std::int64_t> caches;  // by the CPUs that share one
  for (const int cpu : cpus) {
    int highest = 0;
    std::string shared_by;
    std::int64_t bytes = 0;
    for (int index = 0;; ++index) {
      const std::string cache = fmt::format("{}/cpu{}/cache/index{}/", sysfs, cpu, index);
      std::ifstream level_file(cache + "level"), size_file(cache + "size");
      std::string size;
      int level = 0;
      if (!(level_file >> level) || !(size_file >> size)) break;
      if (level <= highest) continue;
      highest = level;
      bytes = cache_size(size);
      shared_by.clear();
      std::ifstream(cache + "shared_cpu_list") >> shared_by;
    }
    if (bytes > 0) caches[shared_by] = bytes;
  }
  std::int64_t all = 0;
  for (const auto& [shared_by, bytes] : caches) all += bytes;
  return all;
}

std::int64_t last_level_cache_bytes() {
  std::int64_t bytes = last_level_cache_bytes(allowed_cpus(), "/sys/devices/system/cpu");
#ifdef _SC_LEVEL3_CACHE_SIZE
  // Not asked first: on AMD glibc reports all caches of the socket, in a guest too, which has a
  // part of them.
  if (bytes == 0) bytes = std::max<std::int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  // Nothing reported (some virtual machines): assume a large server slice rather than none, so that
  // a cold sample stays cold.
  return bytes > 0 ? bytes : std::int64_t{32} << 20;
}

}  // namespace attnbench
