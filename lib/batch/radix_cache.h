// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace attnbench {

/// Which prefixes of token sequences are in the KV pool already, and where: a radix tree over token
/// ids whose edges carry KV slots (SGLang's RadixCache). Only whole pages are shared, so lengths
/// are rounded down to multiples of page_size.
class RadixCache {
 public:
  explicit RadixCache(std::int64_t page_size);

  /// Slots of the longest stored prefix of `tokens`.
  [[nodiscard]] std::vector<std::int64_t> match_prefix(std::span<const std::int64_t> tokens) const;

  /// Stores tokens[i] -> slots[i]. Returns how many leading tokens were stored before; those keep
  /// their old slots, and the caller still owns the duplicates.
  std::int64_t insert(std::span<const std::int64_t> tokens, std::span<const std::int64_t> slots);

 private:
  struct Node {
    std::vector<std::int64_t> tokens;  // of the edge that leads here, whole pages
    std::vector<std::int64_t> slots;
    std::map<std::vector<std::int64_t>, std::unique_ptr<Node>> children;  // by first page of tokens
  };
  [[nodiscard]] std::vector<std::int64_t> first_page(std::span<const std::int64_t> tokens) const;
  [[nodiscard]] std::size_t whole_pages(std::size_t tokens) const;
  [[nodiscard]] std::size_t common_pages(const Node& node,
                                         std::span<const std::int64_t> tokens) const;
  void split(Node& node, std::size_t length) const;

  std::size_t page_size_;
  Node root_;
};

}  // namespace attnbench
