// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/wrappers/row_copies.h"
#include "lib/base/int_math.h"

namespace attnbench {

void copy_rows_on_cpu(std::span<const RowCopy> copies, Stream&) {
  for (const RowCopy& copy : copies) {
    const std::int64_t rows = copy.real_rows == nullptr ? copy.rows : *copy.real_rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(copy.to + row * copy.to_stride, copy.from + row * copy.from_stride,
                  to_size(copy.row_bytes));
    }
  }
}

}  // namespace attnbench
