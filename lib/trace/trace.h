// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnbench {

/// One request of a log: when it came, what it asked, and which of its prompt others share.
struct TracedRequest {
  double arrival_s = 0;                              ///< since the first request of the trace
  std::int64_t input_tokens = 0, output_tokens = 0;  ///< at least one each
  std::size_t first_block = 0, blocks = 0;  ///< in Trace::blocks; blocks behind them are its own
};

/// Rows that could not be read.
struct RowFaults {
  static constexpr std::size_t kMostTold = 5;  ///< more would hide the command's own answer

  std::size_t count = 0;
  std::vector<std::string> first;  ///< kMostTold at most, as "file:line: what was found"

  void add(const std::string& file, std::size_t line, const std::string& what);
};

/// The requests of a file in order of arrival.
struct Trace {
  std::string file, format;
  std::vector<TracedRequest> requests;
  /// Tokens of a block of a prompt. 0: the file does not say which prompts begin alike.
  std::int64_t block_tokens = 0;
  /// Whole blocks from which prompts begin, request by request. Two have the same number if, and
  /// only if, they and all blocks before them hold the same tokens.
  std::vector<std::uint32_t> blocks;
  std::size_t distinct_blocks = 0;  ///< numbers are 0 to this
  RowFaults faults;
  std::size_t unanswered = 0;  ///< rows of requests without an output, which failed; left out

  [[nodiscard]] std::span<const std::uint32_t> blocks_of(const TracedRequest& request) const {
    return std::span(blocks).subspan(request.first_block, request.blocks);
  }
};

/// Tokens of a prompt that a cache of its first `cached_blocks` blocks spares: engines compute the
/// last token at any rate, because its logits are asked for.
[[nodiscard]] std::int64_t spared_tokens(const Trace& trace, const TracedRequest& request,
                                         std::size_t cached_blocks);

}  // namespace attnbench
