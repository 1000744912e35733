// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/allocator.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

/// Marks `index` as free; InternalError unless it is in use.
void release(std::vector<bool>& in_use, std::int64_t index) {
  expects(index > 0 && index < static_cast<std::int64_t>(in_use.size()) &&
              in_use[static_cast<std::size_t>(index)],
          "a KV slot is freed that nobody owns");
  in_use[static_cast<std::size_t>(index)] = false;
}

}  // namespace

TokenAllocator::TokenAllocator(std::int64_t size) : in_use_(static_cast<std::size_t>(size + 1)) {
  for (std::int64_t slot = 1; slot <= size; ++slot) free_slots_.push_back(slot);
}

std::optional<std::vector<std::int64_t>> TokenAllocator::alloc(std::int64_t count) {
  expects(count >= 0, "a negative number of KV slots");
  if (count > available()) return std::nullopt;
  const auto end = free_slots_.begin() + count;
  std::vector<std::int64_t> slots(free_slots_.begin(), end);
  free_slots_.erase(free_slots_.begin(), end);
  for (const std::int64_t slot : slots) in_use_[static_cast<std::size_t>(slot)] = true;
  return slots;
}

void TokenAllocator::free(std::span<const std::int64_t> slots) {
  for (const std::int64_t slot : slots) {
    release(in_use_, slot);
    free_slots_.push_back(slot);
  }
}

std::int64_t TokenAllocator::available() const {
  return static_cast<std::int64_t>(free_slots_.size());
}

PagedAllocator::PagedAllocator(std::vector<std::int32_t> free_pages, std::int64_t page_size)
    : free_pages_(free_pages.begin(), free_pages.end()), page_size_(page_size) {
  expects(page_size > 0, "a page needs at least one token");
  std::ranges::sort(free_pages);
  expects(free_pages.empty() || free_pages.front() > 0, "page 0 is the dummy");
  expects(std::ranges::adjacent_find(free_pages) == free_pages.end(), "a page is listed twice");
  in_use_.resize(free_pages.empty() ? 0 : static_cast<std::size_t>(free_pages.back()) + 1);
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

void PagedAllocator::free(std::span<const std::int64_t> slots) {
  std::vector<std::int32_t> pages;
  pages.reserve(slots.size());
  for (const std::int64_t slot : slots) {
    pages.push_back(narrow_i32(slot / page_size_));
  }
  std::ranges::sort(pages);
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  for (const std::int32_t page : pages) release(in_use_, page);
  free_pages_.insert(free_pages_.begin(), pages.begin(), pages.end());
}

std::int64_t PagedAllocator::available_pages() const {
  return static_cast<std::int64_t>(free_pages_.size());
}

std::int32_t PagedAllocator::take_page() {
  const std::int32_t page = free_pages_.front();
  free_pages_.pop_front();
  in_use_[static_cast<std::size_t>(page)] = true;
  return page;
}

}  // namespace attnbench
