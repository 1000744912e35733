// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/unit_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/contents/indexer_rows.h"

namespace attnbench {

UnitRows unit_rows(const Contents& contents, std::int64_t request, std::int64_t unit,
                   std::int64_t group) {
  const Selection& rule = contents.of_case().layer.selection;
  const std::int64_t count = rule.rows_of_unit();
  UnitRows rows{};
  for (std::int64_t i = 0; i < count; ++i) {
    const IndexKey key = index_key(contents, request, unit, rule.unit, group * count + i);
    for (std::size_t d = 0; d < key.row.size(); ++d) {
      rows[static_cast<std::size_t>(i)][d] = e4m3_value(key.row[d]) * key.scale;
    }
  }
  for (std::size_t d = 0; count == 2 && d < rows[0].size(); ++d) {
    if (rows[0][d] > rows[1][d]) std::swap(rows[0][d], rows[1][d]);
  }
  return rows;
}

bool is_stale(const Contents& contents, std::int64_t request, std::int64_t unit) {
  const Selection& rule = contents.of_case().layer.selection;
  if (rule.stale == 0) return false;
  const std::int64_t position = (unit + 1) * rule.unit - 1;
  const std::uint64_t key = row_key(contents.params().seed, Role::kIndexKey,
                                    contents.source_of(request, position).stream, position, -1);
  return static_cast<double>(mix64(key) >> 11) * 0x1p-53 < rule.stale;
}

}  // namespace attnbench
