// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// One thread makes, writes or reads fewer elements faster than other threads can be started. On a
/// machine with other work they may start a time slice later.
inline constexpr std::int64_t kWorthATeam = 1 << 16;

}  // namespace attnbench
