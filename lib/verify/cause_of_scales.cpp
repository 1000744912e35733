// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/cause_of_scales.h"

#include <cstdint>
#include <vector>

#include "lib/verify/row_of_keys.h"
#include "lib/verify/wrong_scales.h"
#include "reference/visible_keys.h"

namespace attnbench {
namespace {

/// The row with numbers in fp8 that were read through wrong scales.
ReferenceRow evaluate_scales(const Case& c, const Contents& contents, const RowId& id,
                             const WrongScales& wrong) {
  const int kv_head = id.head / c.layer.group_size();
  const auto rows_of = [&](bool is_value) {
    return [&, is_value](std::int64_t first, Eigen::Ref<reference::RowMatrix> block) {
      std::vector<float> row(static_cast<std::size_t>(block.cols()));
      for (Eigen::Index j = 0; j < block.rows(); ++j) {
        const std::int64_t position = first + j;
        if (is_value) {
          contents.v_row(id.request, position, kv_head, row);
        } else {
          contents.k_row(id.request, position, kv_head, row);
        }
        for (std::size_t d = 0; d < row.size(); ++d) {
          block(j, static_cast<Eigen::Index>(d)) =
              wrong.kv(position, is_value, static_cast<std::uint32_t>(d), row[d]);
        }
      }
    };
  };
  const Request& request = c.requests[static_cast<std::size_t>(id.request)];
  return row_of_keys(c, contents, id, wrong.query,
                     reference::keys_seen_by(c.layer, request, id.token), rows_of(false),
                     rows_of(true));
}

}  // namespace

std::string cause_of_scales(const Case& c, const Contents& contents, const Numerics& numerics,
                            const RowId& id, std::span<const std::byte> got) {
  if (c.layer.has_alibi || c.layer.temperature_len > 0 || c.layer.dual_chunk.exists()) return {};
  for (const WrongScales& wrong : wrong_scales(c, contents, id)) {
    if (agrees(c, numerics, evaluate_scales(c, contents, id, wrong), got)) return wrong.text;
  }
  return {};
}

}  // namespace attnbench
