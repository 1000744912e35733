// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/padding_reader.h"

#include "lib/base/narrow.h"
#include "lib/scenario/strict_map.h"
#include "lib/scenario/value_reader.h"

namespace attnbench {
namespace {

/// More than the largest batch that an engine records a graph for.
constexpr std::int64_t kMostPadding = 1 << 16;

}  // namespace

std::optional<BatchPadding> read_padding(const YamlNode* node, Problems& problems) {
  BatchPadding padding;
  if (node == nullptr) return padding;
  if (node->is_scalar()) {
    const auto requests = read_size(*node, "padding", 0, kMostPadding, problems);
    if (!requests) return std::nullopt;
    padding.requests = *requests;
    return padding;
  }
  const StrictMap map(*node, "padding", "padding", problems);
  if (!map.sound()) return std::nullopt;
  const YamlNode* const requests = map.find("requests");
  if (requests == nullptr) {
    problems.add(node->place, "padding has no requests",
                 "for example padding: {requests: 3, seq_len: 0}, or padding: 3");
    return std::nullopt;
  }
  const auto count = read_size(*requests, "requests", 0, kMostPadding, problems);
  const YamlNode* const seq_len = map.find("seq_len");
  const auto length = seq_len == nullptr ? std::optional<std::int64_t>(padding.seq_len)
                                         : read_size(*seq_len, "seq_len", 0, 1, problems);
  if (!count || !length) return std::nullopt;
  padding.requests = *count;
  padding.seq_len = narrow_i32(*length);
  return padding;
}

}  // namespace attnbench
