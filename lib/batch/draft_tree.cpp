// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/draft_tree.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

void check_tree(std::span<const int> parents) {
  expects(!parents.empty() && parents[0] == -1, "node 0 of a draft tree is its root");
  for (std::size_t i = 1; i < parents.size(); ++i) {
    expects(parents[i] >= 0 && parents[i] < static_cast<int>(i),
            "a draft node comes after its parent");
  }
}

std::size_t parent_of(std::span<const int> parents, std::size_t node) {
  return static_cast<std::size_t>(parents[node]);
}

std::size_t common_tree_size(std::span<const std::vector<int>> parents_per_request) {
  const std::size_t nodes = parents_per_request.empty() ? 0 : parents_per_request[0].size();
  for (const std::vector<int>& parents : parents_per_request) {
    expects(parents.size() == nodes, "draft trees of one batch have the same number of nodes");
  }
  return nodes;
}

/// The `count` best of the candidates from `first` on, best first.
std::vector<std::int64_t> best_candidates(const std::vector<double>& scores, std::int64_t first,
                                          std::int64_t count) {
  std::vector<std::int64_t> order(scores.size() - static_cast<std::size_t>(first));
  std::iota(order.begin(), order.end(), first);
  const auto better = [&](std::int64_t a, std::int64_t b) {
    const double score_a = scores[static_cast<std::size_t>(a)];
    const double score_b = scores[static_cast<std::size_t>(b)];
    return score_a != score_b ? score_a > score_b : a < b;
  };
  std::ranges::partial_sort(order, order.begin() + count, better);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace

std::vector<int> build_tree(std::span<const std::int64_t> selected_index,
                            std::span<const std::int64_t> parent_list, std::int64_t topk) {
  expects(topk > 0, "topk counts at least one branch");
  std::vector<int> parents{-1};
  for (const std::int64_t selected : selected_index) {
    expects(selected >= 0, "a negative draft candidate");
    const std::int64_t parent_slot = selected / topk;
    if (parent_slot == 0) {
      parents.push_back(0);
      continue;
    }
    expects(parent_slot < static_cast<std::int64_t>(parent_list.size()),
            "a selected draft token has a parent slot outside the list");
    const auto parent =
        std::ranges::find(selected_index, parent_list[static_cast<std::size_t>(parent_slot)]);
    expects(parent != selected_index.end(), "a draft token is selected without its parent");
    parents.push_back(narrow_i32(parent - selected_index.begin() + 1));
  }
  check_tree(parents);
  return parents;
}

bool is_chain(std::span<const int> parents) {
  for (std::size_t node = 0; node < parents.size(); ++node) {
    if (parents[node] != static_cast<int>(node) - 1) return false;
  }
  return true;
}

std::vector<int> tree_depths(std::span<const int> parents) {
  check_tree(parents);
  std::vector<int> depths(parents.size(), 0);
  for (std::size_t i = 1; i < parents.size(); ++i) depths[i] = depths[parent_of(parents, i)] + 1;
  return depths;
}

std::vector<std::int32_t> retrive_next_token(std::span<const int> parents) {
  check_tree(parents);
  std::vector<std::int32_t> first_child(parents.size(), -1);
  for (std::size_t i = parents.size() - 1; i > 0; --i) {
    first_child[parent_of(parents, i)] = static_cast<std::int32_t>(i);
  }
  return first_child;
}

std::vector<std::int32_t> retrive_next_sibling(std::span<const int> parents) {
  check_tree(parents);
  std::vector<std::int32_t> later_child(parents.size(), -1);  // of each parent, seen so far
  std::vector<std::int32_t> sibling(parents.size(), -1);
  for (std::size_t i = parents.size() - 1; i > 0; --i) {
    sibling[i] = later_child[parent_of(parents, i)];
    later_child[parent_of(parents, i)] = static_cast<std::int32_t>(i);
  }
  return sibling;
}

// The masks of draft trees in the forms that kernels read.

std::vector<std::uint8_t> tree_visibility(std::span<const int> parents) {
  check_tree(parents);
  const std::size_t nodes = parents.size();
  std::vector<std::uint8_t> visible(nodes * nodes, 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i > 0) {  // what the parent sees: its row is complete, since it came earlier
      std::copy_n(visible.data() + parent_of(parents, i) * nodes, i, visible.data() + i * nodes);
    }
    visible[i * nodes + i] = 1;
  }
  return visible;
}

SpecInfo make_spec_info(std::span<const std::vector<int>> parents_per_request,
                        std::span<const std::int32_t> seq_lens) {
  expects(!parents_per_request.empty(), "a target_verify batch without requests");
  SpecInfo info;
  info.draft_token_num = static_cast<std::int64_t>(parents_per_request[0].size());
  info.topk = 1;
  info.custom_mask = full_mask(parents_per_request, seq_lens);
  info.mask_indptr = mask_indptr(info.draft_token_num, seq_lens);
  for (const std::vector<int>& parents : parents_per_request) {
    for (const int parent : parents) {
      if (parent >= 0) {
        info.topk = std::max<std::int64_t>(info.topk, std::ranges::count(parents, parent));
      }
      info.retrive_index.push_back(
          narrow_i32(static_cast<std::int64_t>(info.retrive_index.size())));
    }
    info.retrieve_parent_token.insert(info.retrieve_parent_token.end(), parents.begin(),
                                      parents.end());
    const std::vector<std::int32_t> children = retrive_next_token(parents);
    const std::vector<std::int32_t> siblings = retrive_next_sibling(parents);
    info.retrive_next_token.insert(info.retrive_next_token.end(), children.begin(), children.end());
    info.retrive_next_sibling.insert(info.retrive_next_sibling.end(), siblings.begin(),
                                     siblings.end());
  }
  return info;
}

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

DraftSelection select_draft_tokens(std::int64_t topk, std::int64_t depth, std::int64_t draft_tokens,
                                   const std::function<double(std::int64_t)>& probability) {
  expects(
      topk > 0 && depth > 0 && draft_tokens >= 0 && draft_tokens <= draft_candidates(topk, depth),
      "a draft tree has no more tokens than candidates");
  DraftSelection selection;
  selection.parent_list = {-1};  // slot 0: the root
  std::vector<double> scores;
  const auto propose = [&](double parent_score) {
    for (std::int64_t k = 0; k < topk; ++k) {
      scores.push_back(parent_score * probability(static_cast<std::int64_t>(scores.size())));
    }
  };
  propose(1);
  std::int64_t step_begin = 0;
  for (std::int64_t step = 1; step < depth; ++step) {
    const std::vector<std::int64_t> expanded = best_candidates(scores, step_begin, topk);
    step_begin = static_cast<std::int64_t>(scores.size());
    for (const std::int64_t parent : expanded) {
      selection.parent_list.push_back(parent);
      propose(scores[static_cast<std::size_t>(parent)]);
    }
  }
  selection.selected_index = best_candidates(scores, 0, draft_tokens);
  std::ranges::sort(selection.selected_index);
  return selection;
}

}  // namespace attnbench
