// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/contents/contents.h"

namespace attnbench {

// Draws that Contents::secret() decides: what a timed sample changes of a part's inputs, and what
// is looked at of its outputs.

/// One of `count` things out of each of `parts` equal parts of them: of fewer things, each.
class OneOfEach {
 public:
  constexpr OneOfEach(std::uint64_t seed, std::int64_t count, std::int64_t parts)
      : seed_(seed), count_(count), parts_(std::min(count, parts)) {}

  [[nodiscard]] constexpr std::int64_t parts() const { return parts_; }
  [[nodiscard]] constexpr std::int64_t of_part(std::int64_t part) const {
    const std::int64_t begin = count_ * part / parts_, end = count_ * (part + 1) / parts_;
    return begin + static_cast<std::int64_t>(combine(seed_, static_cast<std::uint64_t>(part)) %
                                             static_cast<std::uint64_t>(end - begin));
  }
  [[nodiscard]] constexpr bool has(std::int64_t thing) const {
    return of_part(((thing + 1) * parts_ - 1) / count_) == thing;
  }

 private:
  std::uint64_t seed_;
  std::int64_t count_, parts_;
};

/// The query tokens of a request whose inputs a timed sample changes: all of a decode or a draft,
/// few of a prompt.
[[nodiscard]] inline OneOfEach changed_tokens(const Contents& sample, std::int64_t request) {
  constexpr std::int64_t kMost = 16;
  return {combine(sample.secret(), sample.own_stream(request)),
          sample.of_case().requests[static_cast<std::size_t>(request)].q_len, kMost};
}

}  // namespace attnbench
