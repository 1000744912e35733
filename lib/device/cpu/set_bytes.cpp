// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/set_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace attnbench {

void set_bytes(std::span<std::byte> memory, std::byte value) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const auto parts = static_cast<std::int64_t>((memory.size() + kPart - 1) / kPart);
#pragma omp parallel for schedule(static) if (parts > 4)
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * kPart;
    std::memset(memory.data() + begin, std::to_integer<int>(value),
                std::min(kPart, memory.size() - begin));
  }
}

}  // namespace attnbench
