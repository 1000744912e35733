// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/key_run.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Pages of a pool whose size the case leaves open, without the padding's: what the batch needs,
/// and an eighth, at least four, that no request owns.
[[nodiscard]] constexpr std::int64_t roomy_pool_pages(std::int64_t needed) {
  return needed + std::max(std::int64_t{4}, needed / 8);
}

// Shared prefixes that extend each other are a tree: a prefix begins with all tokens of its parent.

/// What the prefix adds to its parent.
[[nodiscard]] KeyRun own_tokens(std::span<const SharedPrefix> prefixes, int prefix);

/// The whole pages that the prefix adds to its parent's. The first of them begins with what the
/// parent leaves on a partial page.
[[nodiscard]] KeyRun own_whole_pages(std::span<const SharedPrefix> prefixes, int prefix,
                                     std::int64_t page_size);

/// The prefix, or that one of its ancestors, which added the token at `position`. The prefix must
/// reach so far.
[[nodiscard]] int prefix_of_token(std::span<const SharedPrefix> prefixes, int prefix,
                                  std::int64_t position);

/// Where a request's keys go over from one stream of contents to the next, in no order: at the ends
/// of the prefixes that it begins with.
[[nodiscard]] std::vector<std::int64_t> ends_of_streams(const Case& c, const Request& request);

/// Tokens that two prefixes begin with: all of the last ancestor that they have in common (each is
/// its own, too), 0 where there is none. -1 is no prefix.
[[nodiscard]] std::int64_t common_length(std::span<const SharedPrefix> prefixes, int a, int b);

/// Whether `prefix` is `ancestor` or extends it. -1 is no prefix.
[[nodiscard]] bool extends(std::span<const SharedPrefix> prefixes, int prefix, int ancestor);

}  // namespace attnbench
