// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace attnbench {

/// Hands out KV slots page by page: slot = page * page_size + offset, and the tokens of one logical
/// page of a request are neighbours (SGLang's PagedTokenToKVPoolAllocator; with page_size 1 its
/// TokenToKVPoolAllocator). Nothing is ever freed: a case is one step.
class PagedAllocator {
 public:
  /// `free_pages` are handed out from the front; page 0 is the dummy and must not be among them.
  PagedAllocator(std::vector<std::int32_t> free_pages, std::int64_t page_size);

  /// Slots of the new tokens prefix_lens[r] .. seq_lens[r] - 1 of each request, concatenated: first
  /// the rest of the page that last_loc[r] (the slot of the last prefix token; -1 without one) lies
  /// in, then new pages. Nothing, and no change, when the free pages do not suffice.
  /// InternalError unless (last_loc + 1) mod page_size == prefix mod page_size and
  /// prefix <= seq_len.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> alloc_extend(
      std::span<const std::int32_t> prefix_lens, std::span<const std::int32_t> seq_lens,
      std::span<const std::int64_t> last_loc);

  /// One slot per request; seq_lens count the new token. A new page where the last one is full.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> alloc_decode(
      std::span<const std::int32_t> seq_lens, std::span<const std::int64_t> last_loc);

  [[nodiscard]] std::int64_t available_pages() const;

 private:
  [[nodiscard]] std::int32_t take_page();

  std::deque<std::int32_t> free_pages_;
  std::int64_t page_size_;
};

/// Where a slot of the full pool lies in the smaller pool of the sliding-window layers (SGLang's
/// full_to_swa_index_mapping). 0, the dummy slot, where it lies nowhere; -1 stays -1.
class FullToSwaMapping {
 public:
  /// A full pool of `size_full` slots besides the dummy page.
  FullToSwaMapping(std::int64_t size_full, std::int64_t page_size);

  void map(std::int64_t full_slot, std::int64_t swa_slot);
  [[nodiscard]] std::int64_t translate(std::int64_t full_slot) const;
  /// As kernels read it: size_full + page_size + 1 entries, the last one -1, so that a Python index
  /// of -1 finds it.
  [[nodiscard]] std::span<const std::int64_t> table() const { return table_; }

 private:
  std::vector<std::int64_t> table_;
};

}  // namespace attnbench
