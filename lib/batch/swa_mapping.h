// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

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
