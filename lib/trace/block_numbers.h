// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "lib/base/counter_hash.h"

namespace attnbench {

/// Numbers the blocks of prompts by all that stands before them, as a radix cache finds them: two
/// blocks with one hash behind different prefixes are two blocks. As in vLLM, 64 bits of a hash
/// over the whole prefix stand for it: of 16 M blocks, two are taken for one with a chance of 7e-6.
class BlockNumbers {
 public:
  /// What names a block, and what stands before it, for those behind it.
  struct Block {
    std::uint64_t chain = 0;
    std::uint32_t number = 0;  ///< from 0 in order of appearance; of the root: none
  };

  /// The block with this hash behind `parent`, which is added if it is new.
  [[nodiscard]] Block child(const Block& parent, std::uint64_t hash) {
    const std::uint64_t chain = combine(parent.chain, hash);
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return {chain, numbers_.try_emplace(chain, next).first->second};
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  struct AsItIs {  // a chain is mixed already
    std::size_t operator()(std::uint64_t chain) const noexcept { return chain; }
  };
  std::unordered_map<std::uint64_t, std::uint32_t, AsItIs> numbers_;
};

}  // namespace attnbench
