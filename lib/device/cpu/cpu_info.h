// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/device/cpu_target.h"

namespace attnbench {

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
