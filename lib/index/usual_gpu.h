// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// Multiprocessors of an H100 SXM or H200: what rules and schedules are asked for where no GPU
/// takes part.
inline constexpr int kDefaultSmCount = 132;

}  // namespace attnbench
