// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/allocator.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

PagedAllocator::PagedAllocator(std::vector<std::int32_t> free_pages, std::int64_t page_size)
    : free_pages_(free_pages.begin(), free_pages.end()), page_size_(page_size) {
  expects(page_size > 0, "a page needs at least one token");
  std::ranges::sort(free_pages);
  expects(free_pages.empty() || free_pages.front() > 0, "page 0 is the dummy");
  expects(std::ranges::adjacent_find(free_pages) == free_pages.end(), "a page is listed twice");
}

std::optional<std::vector<std::int64_t>> PagedAllocator::alloc_extend(
    std::span<const std::int32_t> prefix_lens, std::span<const std::int32_t> seq_lens,
    std::span<const std::int64_t> last_loc) {
  const std::size_t requests = seq_lens.size();
  expects(prefix_lens.size() == requests && last_loc.size() == requests,
          "one prefix length, length and last slot per request");
  std::int64_t new_pages = 0;
  std::int64_t new_tokens = 0;
  for (std::size_t r = 0; r < requests; ++r) {
    expects(prefix_lens[r] >= 0 && prefix_lens[r] <= seq_lens[r],
            "a prefix is longer than its sequence");
    expects(last_loc[r] >= -1 && (last_loc[r] + 1) % page_size_ == prefix_lens[r] % page_size_,
            "the last prefix slot does not fit the prefix length");
    new_pages += ceil_div(seq_lens[r], page_size_) - ceil_div(prefix_lens[r], page_size_);
    new_tokens += seq_lens[r] - prefix_lens[r];
  }
  if (new_pages > available_pages()) return std::nullopt;

  std::vector<std::int64_t> slots;
  slots.reserve(static_cast<std::size_t>(new_tokens));
  for (std::size_t r = 0; r < requests; ++r) {
    std::int64_t slot = last_loc[r];
    for (std::int64_t t = prefix_lens[r]; t < seq_lens[r]; ++t) {
      slot = t % page_size_ == 0 ? take_page() * page_size_ : slot + 1;
      slots.push_back(slot);
    }
  }
  return slots;
}

std::optional<std::vector<std::int64_t>> PagedAllocator::alloc_decode(
    std::span<const std::int32_t> seq_lens, std::span<const std::int64_t> last_loc) {
  std::vector<std::int32_t> prefix_lens(seq_lens.begin(), seq_lens.end());
  for (std::int32_t& len : prefix_lens) --len;
  return alloc_extend(prefix_lens, seq_lens, last_loc);
}

std::int64_t PagedAllocator::available_pages() const {
  return static_cast<std::int64_t>(free_pages_.size());
}

std::int32_t PagedAllocator::take_page() {
  const std::int32_t page = free_pages_.front();
  free_pages_.pop_front();
  return page;
}

FullToSwaMapping::FullToSwaMapping(std::int64_t size_full, std::int64_t page_size)
    : table_(static_cast<std::size_t>(size_full + page_size + 1), 0) {
  table_.back() = -1;
}

void FullToSwaMapping::map(std::int64_t full_slot, std::int64_t swa_slot) {
  expects(full_slot > 0 && full_slot + 1 < static_cast<std::int64_t>(table_.size()),
          "a slot outside the full pool");
  expects(swa_slot >= 0, "a negative slot of the sliding-window pool");
  table_[static_cast<std::size_t>(full_slot)] = swa_slot;
}

std::int64_t FullToSwaMapping::translate(std::int64_t full_slot) const {
  if (full_slot == -1) return table_.back();
  expects(full_slot >= 0 && full_slot + 1 < static_cast<std::int64_t>(table_.size()),
          "a slot outside the full pool");
  return table_[static_cast<std::size_t>(full_slot)];
}

}  // namespace attnbench
