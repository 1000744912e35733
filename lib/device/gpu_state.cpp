// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/gpu_state.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace attnbench {

std::string to_string(const ClockEvents& events) {
  std::string names;
  const auto add = [&](bool set, const char* name) {
    if (!set) return;
    if (!names.empty()) names += ' ';
    names += name;
  };
  add(events.power_cap, "power_cap");
  add(events.thermal, "thermal");
  add(events.hw_slowdown, "hw_slowdown");
  return names;
}

namespace {

/// 0 where there is none, or no such process.
std::int64_t parent_of(std::int64_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kParent = "PPid:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kParent)) return std::stoll(line.substr(kParent.size()));
  }
  return 0;
}

}  // namespace

GpuSharers sharers_among(std::span<const GpuProcess> all,
                         const std::function<bool(std::int64_t pid)>& is_own) {
  GpuSharers others{.processes = 0};
  bool sees_own = false;
  for (const GpuProcess& each : all) {
    if (is_own(each.pid)) {
      sees_own = true;
    } else {
      ++others.processes;
      others.memory_bytes += each.memory_bytes;
    }
  }
  return sees_own ? others : GpuSharers{};
}

bool is_of_this_program(std::int64_t pid) {
  while (pid > 1 && pid != getpid()) pid = parent_of(pid);
  return pid == getpid();
}

}  // namespace attnbench
