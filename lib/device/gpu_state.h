// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace attnbench {

/// Why a device runs below its highest clock.
struct ClockEvents {
  bool power_cap = false;    ///< the board draws what it may
  bool thermal = false;      ///< too hot
  bool hw_slowdown = false;  ///< an outside signal: power brake, over-current

  ClockEvents& operator|=(const ClockEvents& other) {
    power_cap = power_cap || other.power_cap;
    thermal = thermal || other.thermal;
    hw_slowdown = hw_slowdown || other.hw_slowdown;
    return *this;
  }
};
/// "power_cap thermal"; empty when there are none.
[[nodiscard]] std::string to_string(const ClockEvents& events);

/// A process that has a context on a GPU.
struct GpuProcess {
  std::int64_t pid = 0;
  std::int64_t memory_bytes = 0;  ///< 0: not told
};

/// What other programs had on a GPU. A context that does nothing costs little, and whoever has one
/// may work at any time.
struct GpuSharers {
  int processes = -1;             ///< -1: not known
  std::int64_t memory_bytes = 0;  ///< of all of them together; 0: not told

  [[nodiscard]] bool known() const { return processes >= 0; }
  [[nodiscard]] bool disturb() const { return processes > 0; }
  /// Of two moments the one with more of them.
  GpuSharers& operator|=(const GpuSharers& other) {
    if (other.processes > processes ||
        (other.processes == processes && other.memory_bytes > memory_bytes)) {
      *this = other;
    }
    return *this;
  }
};

/// Of all processes of a GPU on which this program is at work. Not known where none of them is its
/// own: a container's processes have other numbers inside than the driver's library knows.
[[nodiscard]] GpuSharers sharers_among(std::span<const GpuProcess> all,
                                       const std::function<bool(std::int64_t pid)>& is_own);

/// Whether it is this process or descends from it, by /proc.
[[nodiscard]] bool is_of_this_program(std::int64_t pid);

}  // namespace attnbench
