// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/stored_index_row.h"

#include <cstddef>
#include <cstring>

#include "lib/base/dtype.h"

namespace attnbench {

std::int64_t stored_row_bytes(const Case& c) {
  const bool in_bf16 = c.layer.selection.scores_in_bf16();
  return IndexerInputs::kDim * size_bytes(in_bf16 ? DType::kBF16 : DType::kE4M3);
}

std::int64_t stored_key_bytes(const Case& c) {
  return c.layer.selection.scores_in_bf16() ? stored_row_bytes(c) : IndexerInputs::kKeyBytes;
}

std::byte nan_byte(const Case& c) {
  return std::byte{c.layer.selection.scores_in_bf16() ? std::uint8_t{0xff} : std::uint8_t{0x7f}};
}

void store_row(const Case& c, const IndexRow& row, float scale, std::byte* to) {
  if (!c.layer.selection.scores_in_bf16()) {
    std::memcpy(to, row.data(), row.size());
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    store(DType::kBF16, to + i * 2, e4m3_value(row[i]) * scale);
  }
}

void store_query(const Case& c, const IndexRow& row, std::byte* to) {
  store_row(c, row, kMaximaQueryScale, to);
}

}  // namespace attnbench
