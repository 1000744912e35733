// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

/// Instruction sets that CPU kernels are compiled for; of one architecture, the slower first.
enum class CpuTarget : std::uint8_t {
  kAvx2,        ///< with FMA and F16C: x86-64-v3, what the rest of the program is built for
  kAvx512,      ///< F, VL, DQ, BW: x86-64-v4
  kAvx512Bf16,  ///< and dot products of bf16
  kNeon,
};

/// "avx2", "avx512", "avx512_bf16", "neon".
[[nodiscard]] std::string_view to_string(CpuTarget target);

/// Those that this processor has, the slower first.
[[nodiscard]] std::vector<CpuTarget> cpu_targets();

/// The fastest that this processor has.
[[nodiscard]] CpuTarget best_cpu_target();

/// Throws ConfigError when no instruction set has this name and EnvironmentError when this
/// processor lacks it; both name those that it has.
[[nodiscard]] CpuTarget cpu_target_named(std::string_view name);

/// "AMD EPYC", from /proc/cpuinfo; "unknown CPU" where there is none.
[[nodiscard]] std::string cpu_name();
/// "x86-64 avx512": the architecture and the instruction set of kernels.
[[nodiscard]] std::string cpu_arch(CpuTarget target);
/// Bytes of the last-level caches that the CPUs of this process have: of all together, because its
/// threads read and write through all of them. As sysfs reports them, or else sysconf; 32 MiB where
/// neither does.
[[nodiscard]] std::int64_t last_level_cache_bytes();
/// The same of these CPUs, by files like /sys/devices/system/cpu/cpu0/cache/index3/size. A cache
/// that several share counts once. 0 where there are no such files.
[[nodiscard]] std::int64_t last_level_cache_bytes(std::span<const int> cpus,
                                                  const std::string& sysfs);

}  // namespace attnbench
