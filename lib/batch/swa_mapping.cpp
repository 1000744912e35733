// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/swa_mapping.h"

#include "lib/base/error.h"

namespace attnbench {

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
