// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace attnbench {

/// memset by all OpenMP threads where there is enough to do. Memory that is touched for the first
/// time then lies where the threads run, as frameworks leave tensors that they fill.
void set_bytes(std::span<std::byte> memory, std::byte value);

}  // namespace attnbench
