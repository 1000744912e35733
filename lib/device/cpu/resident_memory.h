// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace attnbench {

/// Words that have pages of their own. Those of fresh memory all stand for one page of zeros until
/// they are written: whoever reads them fills no cache.
class ResidentMemory {
 public:
  ResidentMemory() = default;

  /// `threads` equal parts of `part_bytes`, a multiple of kPageBytes, for a team of so many: each
  /// is given its pages by the thread of its number, and then lies in that one's own memory. Throws
  /// std::bad_alloc.
  ResidentMemory(int threads, std::size_t part_bytes);

  static constexpr std::size_t kPageBytes = 4096;

  [[nodiscard]] std::span<std::uint64_t> words() const { return {memory_.get(), words_}; }

 private:
  struct Free {
    void operator()(std::uint64_t* memory) const;
  };
  std::unique_ptr<std::uint64_t[], Free> memory_;
  std::size_t words_ = 0;
};

}  // namespace attnbench
