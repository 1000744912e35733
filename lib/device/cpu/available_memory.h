// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace attnbench {

/// Bytes that this process may still take: what the machine has free, what each of its cgroups
/// (version 1 or 2, those above it too) leaves of its limit, and what `ulimit -v` leaves. Pages of
/// files count as free: the kernel gives them up. `root` is where /proc and /sys are found.
[[nodiscard]] std::int64_t available_memory_bytes(const std::string& root = "");

}  // namespace attnbench
