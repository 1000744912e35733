// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

/// The blocks of prompts that an engine keeps: a radix cache that gives up what was used longest
/// ago. A use touches the last block of a prompt first, so that no block is given up before those
/// that stand behind it.
class PrefixCache {
 public:
  /// For blocks with the numbers 0 to `distinct`; keeps at most `capacity` of them.
  PrefixCache(std::size_t distinct, std::size_t capacity);

  /// The first blocks of a prompt that are there, which counts as their use.
  [[nodiscard]] std::size_t match(std::span<const std::uint32_t> blocks);
  /// Keeps all blocks of a prompt that has been computed.
  void insert(std::span<const std::uint32_t> blocks);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Place {  // in a list in order of use
    std::uint32_t newer = kNone, older = kNone;
    bool kept = false;
  };

  void use(std::uint32_t block);
  void unlink(std::uint32_t block);

  std::vector<Place> places_;
  std::uint32_t newest_ = kNone, oldest_ = kNone;
  std::size_t size_ = 0, capacity_;
};

}  // namespace attnbench
