// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnbench {

/// `count` requests alike: q_len new tokens, kv_len keys in all.
struct BatchSegment {
  std::int64_t count, q_len, kv_len;

  friend bool operator==(const BatchSegment&, const BatchSegment&) = default;
};

/// What is wrong with a batch string, and where in it.
struct BatchStringError {
  std::size_t offset, length;
  std::string message, hint;
};

/// vLLM's batch string (benchmarks/attention_benchmarks/batch_spec.py), with its exact meaning:
///   spec := segment ("_" segment)*     segment := [count] "q" q_len ["k"] ["s" kv_len ["k"]]
/// count defaults to 1, kv_len to q_len, k multiplies by 1024. Stricter than vLLM where its parser
/// lets batches vanish: kv_len < q_len, a count or length of zero, and trailing text are errors.
[[nodiscard]] std::variant<std::vector<BatchSegment>, BatchStringError> parse_batch_string(
    std::string_view text);

}  // namespace attnbench
