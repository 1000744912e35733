// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "lib/backend/numerics.h"
#include "lib/contents/contents.h"
#include "reference/attention_rows.h"
#include "reference/oracle.h"

namespace attnbench {

/// The row that the query of `id`, as stored and times `q_scale`, gives over keys and values that
/// are not its own, of which it sees `visible`, under the layer's plain rule: no ALiBi, no
/// temperature, no dual chunks.
[[nodiscard]] ReferenceRow row_of_keys(const Case& c, const Contents& contents, const RowId& id,
                                       double q_scale, reference::VisibleKeys visible,
                                       const reference::LoadRows& keys,
                                       const reference::LoadRows& values);

/// The factor with which the row's stored query is read.
[[nodiscard]] double own_q_scale(const Contents& contents, const RowId& id);

/// Whether all of a row that a backend gave is `row`, within the bounds of `rule`. `got` is O in
/// the case's dtype with its LSE as f32 behind it.
[[nodiscard]] bool agrees(const Case& rule, const Numerics& numerics, const ReferenceRow& row,
                          std::span<const std::byte> got);

}  // namespace attnbench
