// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace attnbench {

/// "AMD EPYC", from /proc/cpuinfo; "unknown CPU" where there is none.
[[nodiscard]] std::string cpu_name();
/// "x86-64 avx2 fma f16c": the instruction sets this program was compiled for.
[[nodiscard]] std::string cpu_arch();
/// Size of the largest cache that sysfs or sysconf reports.
[[nodiscard]] std::int64_t last_level_cache_bytes();

}  // namespace attnbench
