// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnbench {

void RowFaults::add(const std::string& file, std::size_t line, const std::string& what) {
  ++count;
  if (first.size() < kMostTold) first.push_back(fmt::format("{}:{}: {}", file, line, what));
}

std::int64_t spared_tokens(const Trace& trace, const TracedRequest& request,
                           std::size_t cached_blocks) {
  const std::int64_t cached = static_cast<std::int64_t>(cached_blocks) * trace.block_tokens;
  return std::min(cached, request.input_tokens - 1);
}

}  // namespace attnbench
