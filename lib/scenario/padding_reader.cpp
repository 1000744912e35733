// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/padding_reader.h"

#include "lib/base/narrow.h"
#include "lib/config/strict_map.h"
#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

/// More than the largest batch that an engine records a graph for, and than the tokens to which
/// SGLang and vLLM fill a step up (max_prefill_tokens and max_num_batched_tokens are 16384).
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
  const YamlNode* const tokens = map.find("tokens");
  const YamlNode* const seq_len = map.find("seq_len");
  if (requests == nullptr && tokens == nullptr) {
    problems.add(node->place, "padding has neither requests nor tokens",
                 "for example padding: {requests: 3, seq_len: 0}, padding: {tokens: 8}, or "
                 "padding: 3");
    return std::nullopt;
  }
  if (requests == nullptr && seq_len != nullptr) {
    problems.add(seq_len->place, "padding has a seq_len, but no requests",
                 "tokens alone belong to no request, and have no length: add requests, or leave "
                 "seq_len out");
    return std::nullopt;
  }
  const auto read = [&](const YamlNode* of, const char* key, std::int64_t otherwise,
                        std::int64_t most) {
    return of == nullptr ? std::optional(otherwise) : read_size(*of, key, 0, most, problems);
  };
  const auto count = read(requests, "requests", padding.requests, kMostPadding);
  const auto length = read(seq_len, "seq_len", padding.seq_len, 1);
  const auto rows = read(tokens, "tokens", padding.tokens, kMostPadding);
  if (!count || !length || !rows) return std::nullopt;
  padding.requests = *count;
  padding.seq_len = narrow_i32(*length);
  padding.tokens = *rows;
  return padding;
}

}  // namespace attnbench
