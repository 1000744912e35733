// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// The masks of draft trees in the forms that kernels read.
#include <cstddef>

#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {
namespace {

std::size_t common_tree_size(std::span<const std::vector<int>> parents_per_request) {
  const std::size_t nodes = parents_per_request.empty() ? 0 : parents_per_request[0].size();
  for (const std::vector<int>& parents : parents_per_request) {
    expects(parents.size() == nodes, "draft trees of one batch have the same number of nodes");
  }
  return nodes;
}

}  // namespace

std::vector<std::uint8_t> tree_visibility(const SpecInfo& spec) {
  const std::int64_t nodes = spec.draft_token_num;
  std::vector<std::uint8_t> visible;
  for (std::size_t r = 0; r + 1 < spec.mask_indptr.size(); ++r) {
    const std::int64_t columns = (spec.mask_indptr[r + 1] - spec.mask_indptr[r]) / nodes;
    for (std::int64_t node = 0; node < nodes; ++node) {
      const auto row_end = spec.custom_mask.begin() + spec.mask_indptr[r] + (node + 1) * columns;
      visible.insert(visible.end(), row_end - nodes, row_end);
    }
  }
  return visible;
}

std::vector<std::uint8_t> pack_tree_rows(const SpecInfo& spec) {
  expects(spec.draft_token_num <= kMostPackedTreeNodes,
          "a bit-packed tree row has at most 32 columns");
  const std::vector<std::uint8_t> visible = tree_visibility(spec);
  const auto nodes = static_cast<std::size_t>(spec.draft_token_num);
  const std::size_t row_bytes = nodes <= 8 ? 1 : nodes <= 16 ? 2 : 4;
  std::vector<std::uint8_t> packed(visible.size() / nodes * row_bytes, 0);
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const std::size_t row = i / nodes, column = i % nodes;
    if (visible[i] != 0) {
      packed[row * row_bytes + column / 8] |= static_cast<std::uint8_t>(1u << (column % 8));
    }
  }
  return packed;
}

std::vector<std::uint8_t> full_mask(std::span<const std::vector<int>> parents_per_request,
                                    std::span<const std::int32_t> seq_lens) {
  expects(seq_lens.size() == parents_per_request.size(), "one tree per request");
  const std::size_t nodes = common_tree_size(parents_per_request);
  std::vector<std::uint8_t> mask;
  mask.reserve(
      static_cast<std::size_t>(mask_indptr(static_cast<std::int64_t>(nodes), seq_lens).back()));
  for (std::size_t r = 0; r < seq_lens.size(); ++r) {
    const std::vector<std::uint8_t> visible = tree_visibility(parents_per_request[r]);
    for (std::size_t i = 0; i < nodes; ++i) {
      mask.insert(mask.end(), static_cast<std::size_t>(seq_lens[r]), 1);
      mask.insert(mask.end(), visible.data() + i * nodes, visible.data() + (i + 1) * nodes);
    }
  }
  return mask;
}

std::vector<std::int64_t> mask_indptr(std::int64_t draft_token_num,
                                      std::span<const std::int32_t> seq_lens) {
  std::vector<std::int64_t> indptr{0};
  for (const std::int32_t len : seq_lens) {
    expects(len >= 0, "a negative length");
    indptr.push_back(indptr.back() + draft_token_num * (len + draft_token_num));
  }
  return indptr;
}

PackedMask pack_mask(std::span<const std::uint8_t> mask, std::span<const std::int64_t> indptr) {
  expects(!indptr.empty() && indptr.front() == 0 &&
              indptr.back() == static_cast<std::int64_t>(mask.size()),
          "the mask does not end where its indptr says");
  PackedMask packed;
  packed.indptr.push_back(0);
  for (std::size_t r = 0; r + 1 < indptr.size(); ++r) {
    const auto begin = static_cast<std::size_t>(indptr[r]);
    const auto bits = static_cast<std::size_t>(indptr[r + 1] - indptr[r]);
    const std::size_t first_byte = packed.bytes.size();
    packed.bytes.resize(first_byte + (bits + 7) / 8, 0);
    for (std::size_t i = 0; i < bits; ++i) {
      if (mask[begin + i] != 0) {
        packed.bytes[first_byte + i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
      }
    }
    packed.indptr.push_back(static_cast<std::int64_t>(packed.bytes.size()));
  }
  return packed;
}

DraftTable two_stage_draft_table(const SpecInfo& spec,
                                 std::span<const std::int64_t> out_cache_loc) {
  const std::vector<std::uint8_t> visible = tree_visibility(spec);
  const auto nodes = static_cast<std::size_t>(spec.draft_token_num);
  expects(out_cache_loc.size() * nodes >= visible.size(), "one slot per draft token");
  DraftTable table;
  table.page_table.reserve(visible.size());
  for (std::size_t row = 0; row * nodes < visible.size(); ++row) {
    const std::size_t first = row / nodes * nodes;  // draft token of the request
    std::int32_t seen = 0;
    for (const bool wanted : {true, false}) {
      for (std::size_t j = 0; j < nodes; ++j) {
        if ((visible[row * nodes + j] != 0) != wanted) continue;
        table.page_table.push_back(narrow_i32(out_cache_loc[first + j]));
        if (wanted) ++seen;
      }
    }
    table.cache_seqlens.push_back(seen);
  }
  return table;
}

}  // namespace attnbench
