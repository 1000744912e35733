// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/draft_tree.h"

#include <algorithm>

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

}  // namespace attnbench
