// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/prefix_cache.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace attnbench {

PrefixCache::PrefixCache(std::size_t distinct, std::size_t capacity)
    : places_(distinct), capacity_(capacity) {}

std::size_t PrefixCache::match(std::span<const std::uint32_t> blocks) {
  const auto missing =
      std::ranges::find_if(blocks, [&](std::uint32_t block) { return !places_[block].kept; });
  const auto found = static_cast<std::size_t>(std::distance(blocks.begin(), missing));
  insert(blocks.first(found));
  return found;
}

void PrefixCache::insert(std::span<const std::uint32_t> blocks) {
  if (capacity_ == 0) return;
  for (const std::uint32_t block : blocks | std::views::reverse) use(block);
}

void PrefixCache::use(std::uint32_t block) {
  if (places_[block].kept) {
    unlink(block);
  } else if (size_ == capacity_) {
    unlink(oldest_);
  }
  places_[block] = {kNone, newest_, true};
  (newest_ == kNone ? oldest_ : places_[newest_].newer) = block;
  newest_ = block;
  ++size_;
}

void PrefixCache::unlink(std::uint32_t block) {
  const Place place = places_[block];
  (place.newer == kNone ? newest_ : places_[place.newer].older) = place.older;
  (place.older == kNone ? oldest_ : places_[place.older].newer) = place.newer;
  places_[block].kept = false;
  --size_;
}

}  // namespace attnbench
