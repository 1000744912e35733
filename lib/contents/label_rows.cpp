// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/label_rows.h"

#include <cstddef>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/contents/indexer_rows.h"

namespace attnbench {

/// Multiples of an odd number from a drawn one on, modulo a power of two: no two are equal. The odd
/// number is neither 1 nor its opposite, so that the channels are no run.
int heavy_channel(const Contents& contents, int kv_head, int number) {
  static_assert((IndexerInputs::kDim & (IndexerInputs::kDim - 1)) == 0);
  const std::uint64_t key =
      row_key(contents.of_case().seed, Role::kIndexKey, 0, -1, kv_head);  // no key is at -1
  const auto step = static_cast<int>(3 + 2 * (key % (IndexerInputs::kDim / 2 - 2)));
  const auto first = static_cast<int>((key >> 32) % IndexerInputs::kDim);
  return (first + step * number) % IndexerInputs::kDim;
}

LabelledKey labelled_key(const Contents& contents, std::int64_t request, std::int64_t position,
                         int kv_head) {
  const IndexKey key = index_key(contents, request, position, 1, kv_head);
  LabelledKey elements;
  for (std::size_t d = 0; d < elements.size(); ++d) {
    elements[d] = e4m3_value(key.row[d]) * key.scale;
  }
  return elements;
}

}  // namespace attnbench
