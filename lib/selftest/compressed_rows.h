// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// A row's compressed rows, as a mutant reads them: on the CPU and in a CUDA kernel.
#pragma once

#include <cstdint>

#include "lib/selftest/chosen_list.h"
#include "lib/selftest/mutant_step.h"

namespace attnbench {

/// None of a layer that has none.
class CompressedRows {
 public:
  ATTNBENCH_HOST_DEVICE CompressedRows(const MutantStep& step, std::int64_t token, int head)
      : step_(step), token_(token), head_(head) {}

  /// Calls `visit` with the place among the request's keys of each row that the query at `position`
  /// sees, as often as it takes part.
  template <class Visit>
  ATTNBENCH_HOST_DEVICE void for_each(std::int64_t position, std::int64_t kv_len,
                                      const Visit& visit) const {
    const AttentionLayer& layer = step_.layer;
    const std::int64_t ratio = layer.compress_ratio;
    if (ratio == 0 || has(Fault::kIgnoresCompressedRows)) return;
    std::int64_t seen = layer.compressed_rows(position + 1);
    if (has(Fault::kCompressedRowTooMany) && seen < layer.compressed_rows(kv_len)) ++seen;
    if (has(Fault::kCompressedRowTooFew) && seen > 0) --seen;
    for (std::int64_t row = 0; row < seen; ++row) {
      // The tokens of this row and of those behind it are in the window.
      const bool is_seen_by_tokens = row * ratio >= position - layer.sliding_window_size;
      if (has(Fault::kCountsTokensOnce) && is_seen_by_tokens) return;
      const bool by_list = layer.selection.exists() && !has(Fault::kIgnoresSelection);
      const std::int64_t times =
          by_list ? ChosenList(step_, token_, head_).times(row * ratio, position) : 1;
      for (std::int64_t i = 0; i < times; ++i) visit(kv_len + row);
    }
  }

 private:
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool has(Fault fault) const { return step_.fault == fault; }

  const MutantStep& step_;
  std::int64_t token_;
  int head_;
};

}  // namespace attnbench
