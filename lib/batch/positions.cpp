// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/positions.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {

std::vector<std::int32_t> indptr_of(std::span<const std::int32_t> lens) {
  std::vector<std::int32_t> indptr{0};
  indptr.reserve(lens.size() + 1);
  std::int64_t sum = 0;
  for (const std::int32_t len : lens) {
    expects(len >= 0, "a negative length");
    sum += len;
    indptr.push_back(narrow_i32(sum));
  }
  return indptr;
}

std::vector<std::int64_t> decode_positions(std::span<const std::int32_t> seq_lens) {
  std::vector<std::int64_t> positions;
  positions.reserve(seq_lens.size());
  for (const std::int32_t len : seq_lens) positions.push_back(std::max(len - 1, 0));
  return positions;
}

std::vector<std::int64_t> extend_positions(std::span<const std::int32_t> prefix_lens,
                                           std::span<const std::int32_t> extend_seq_lens) {
  expects(prefix_lens.size() == extend_seq_lens.size(), "one prefix per request");
  std::vector<std::int64_t> positions;
  for (std::size_t r = 0; r < prefix_lens.size(); ++r) {
    const std::int64_t prefix = prefix_lens[r];
    for (std::int64_t t = 0; t < extend_seq_lens[r]; ++t) {
      positions.push_back(std::max<std::int64_t>(prefix + t, 0));
    }
  }
  return positions;
}

std::vector<std::int64_t> verify_positions(std::span<const std::int32_t> seq_lens,
                                           std::span<const std::vector<int>> parents_per_request) {
  expects(seq_lens.size() == parents_per_request.size(), "one tree per request");
  std::vector<std::int64_t> positions;
  for (std::size_t r = 0; r < seq_lens.size(); ++r) {
    const std::int64_t committed = seq_lens[r];
    for (const int depth : tree_depths(parents_per_request[r])) {
      positions.push_back(committed + depth);
    }
  }
  return positions;
}

}  // namespace attnbench
