// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "lib/device/cpu_target.h"

namespace attnbench {

/// "AMD EPYC", from /proc/cpuinfo; "unknown CPU" where there is none.
[[nodiscard]] std::string cpu_name();
/// "x86-64 avx512": the architecture and the instruction set of kernels.
[[nodiscard]] std::string cpu_arch(CpuTarget target);
/// Size of the largest cache that sysfs or sysconf reports.
[[nodiscard]] std::int64_t last_level_cache_bytes();

}  // namespace attnbench
