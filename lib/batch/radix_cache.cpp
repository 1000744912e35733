// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/radix_cache.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

void append(std::vector<std::int64_t>& to, std::span<const std::int64_t> values) {
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

RadixCache::RadixCache(std::int64_t page_size) : page_size_(static_cast<std::size_t>(page_size)) {
  expects(page_size > 0, "a page needs at least one token");
}

std::vector<std::int64_t> RadixCache::match_prefix(std::span<const std::int64_t> tokens) const {
  std::vector<std::int64_t> found;
  std::span<const std::int64_t> rest = tokens.first(whole_pages(tokens.size()));
  const Node* node = &root_;
  while (!rest.empty()) {
    const auto child = node->children.find(first_page(rest));
    if (child == node->children.end()) break;
    node = child->second.get();
    const std::size_t common = common_pages(*node, rest);
    append(found, std::span(node->slots).first(common));
    if (common < node->tokens.size()) break;
    rest = rest.subspan(common);
  }
  return found;
}

std::int64_t RadixCache::insert(std::span<const std::int64_t> tokens,
                                std::span<const std::int64_t> slots) {
  expects(tokens.size() == slots.size(), "one KV slot per token");
  const std::size_t length = whole_pages(tokens.size());
  std::size_t done = 0;
  Node* node = &root_;
  while (done < length) {
    const std::span<const std::int64_t> rest = tokens.subspan(done, length - done);
    std::unique_ptr<Node>& child = node->children[first_page(rest)];
    if (!child) {
      child = std::make_unique<Node>();
      append(child->tokens, rest);
      append(child->slots, slots.subspan(done, length - done));
      break;
    }
    node = child.get();
    const std::size_t common = common_pages(*node, rest);
    if (common < node->tokens.size()) split(*node, common);
    done += common;
  }
  return static_cast<std::int64_t>(done);
}

std::vector<std::int64_t> RadixCache::first_page(std::span<const std::int64_t> tokens) const {
  const auto page = tokens.first(page_size_);
  return {page.begin(), page.end()};
}

std::size_t RadixCache::whole_pages(std::size_t tokens) const {
  return tokens / page_size_ * page_size_;
}

std::size_t RadixCache::common_pages(const Node& node, std::span<const std::int64_t> tokens) const {
  const auto differ =
      std::mismatch(node.tokens.begin(), node.tokens.end(), tokens.begin(), tokens.end());
  return whole_pages(static_cast<std::size_t>(differ.first - node.tokens.begin()));
}

/// Cuts the edge to `node` after `length` tokens; what follows becomes its only child.
void RadixCache::split(Node& node, std::size_t length) const {
  auto lower = std::make_unique<Node>();
  append(lower->tokens, std::span(node.tokens).subspan(length));
  append(lower->slots, std::span(node.slots).subspan(length));
  lower->children = std::exchange(node.children, {});
  node.tokens.resize(length);
  node.slots.resize(length);
  node.children.emplace(first_page(lower->tokens), std::move(lower));
}

}  // namespace attnbench
