// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "lib/base/error.h"

namespace attnbench {

Shard Shard::parse(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec == std::errc{} && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc{} && count.ptr == end && shard.index >= 1 &&
        shard.index <= shard.count) {
      return shard;
    }
  }
  throw ConfigError(fmt::format("'{}' is not a part and how many there are: 1/4 to 4/4", text));
}

}  // namespace attnbench
