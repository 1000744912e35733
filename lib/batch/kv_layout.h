// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// Order of (token, head) inside a page of the KV cache.
enum class KvLayout : std::uint8_t { kNhd, kHnd };

}  // namespace attnbench
