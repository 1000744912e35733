// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/row_of_keys.h"

#include <cmath>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/verify/error_model.h"

namespace attnbench {

double own_q_scale(const Contents& contents, const RowId& id) {
  return static_cast<double>(contents.q_scale(id.request, id.token, id.head));
}

ReferenceRow row_of_keys(const Case& c, const Contents& contents, const RowId& id, double q_scale,
                         reference::VisibleKeys visible, const reference::LoadRows& keys,
                         const reference::LoadRows& values) {
  const AttentionLayer& layer = c.layer;
  std::vector<float> stored(static_cast<std::size_t>(layer.head_dim_qk));
  contents.q_row(id.request, id.token, id.head, stored);
  reference::RowMatrix query(1, layer.head_dim_qk);
  for (std::size_t d = 0; d < stored.size(); ++d) {
    query(0, static_cast<Eigen::Index>(d)) = q_scale * static_cast<double>(stored[d]);
  }
  reference::QueryRow row;
  row.visible = std::move(visible);
  if (layer.has_sinks) row.sink = static_cast<double>(contents.sink(id.head));
  return reference::attend_rows(query, {&row, 1},
                                {.scale = layer.scale, .logit_cap = layer.logit_cap},
                                layer.head_dim_v, keys, values)
      .front();
}

bool agrees(const Case& rule, const Numerics& numerics, const ReferenceRow& row,
            std::span<const std::byte> got) {
  const ErrorModel model(rule, numerics);
  const ErrorModel::Row bounds = model.row(row);
  const std::byte* at = got.data();
  const DType dtype = rule.out_dtype();
  for (std::size_t d = 0; d < row.out.size(); ++d, at += size_bytes(dtype)) {
    const double value = static_cast<double>(rule.out_scale) * load(dtype, at);
    const double want = model.saturated(row.out[d]);
    if (!(std::fabs(value - want) <= ErrorModel::bound(bounds, want, row.a[d]))) return false;
  }
  if (!numerics.lse) return true;
  const double lse = load(DType::kF32, at);
  if (std::isinf(row.lse)) return lse == row.lse;  // whose bound is infinite, too
  return std::fabs(lse - row.lse) <= bounds.lse_bound;
}

}  // namespace attnbench
