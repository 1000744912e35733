// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lib/backend/numerics.h"
#include "lib/contents/contents.h"
#include "reference/attention_rows.h"
#include "reference/oracle.h"

namespace attnbench {

/// The row that the query of `id`, as stored and times `q_scale`, gives over keys and values that
/// are not its own, of which it sees `visible`, under the layer's plain rule: no ALiBi, no
/// temperature, no dual chunks; a selection's LSE.
[[nodiscard]] ReferenceRow row_of_keys(const Case& c, const Contents& contents, const RowId& id,
                                       double q_scale, reference::VisibleKeys visible,
                                       const reference::LoadRows& keys,
                                       const reference::LoadRows& values);

/// Whose rows are read.
struct KeyOwner {
  std::int64_t request = 0;
  int kv_head = 0;
};

/// Row j of K, or of V, is that of key key_of(j) of `owner`, through its scale.
using KeyOf = std::function<std::int64_t(std::int64_t)>;
[[nodiscard]] reference::LoadRows rows_of_k(const Case& c, const Contents& contents,
                                            const KeyOwner& owner, KeyOf key_of);
[[nodiscard]] reference::LoadRows rows_of_v(const Case& c, const Contents& contents,
                                            const KeyOwner& owner, KeyOf key_of);

/// The factor with which the row's stored query is read.
[[nodiscard]] double own_q_scale(const Contents& contents, const RowId& id);

/// Whether all of a row that a backend gave is `row`, within the bounds of `rule`. `got` is O in
/// the case's dtype with its LSE as f32 behind it.
[[nodiscard]] bool agrees(const Case& rule, const Numerics& numerics, const ReferenceRow& row,
                          std::span<const std::byte> got);

/// Which keys and values, taken for the row's own, give it: those of another KV head or request,
/// other columns of a latent row, or those that a tree's mask shows where it is read with a wrong
/// size or place. Empty where none of these does, and for layers with ALiBi, a temperature or dual
/// chunks. `got` as in likely_cause(), and finite.
[[nodiscard]] std::string cause_of_keys(const Case& c, const Contents& contents,
                                        const Numerics& numerics, const RowId& id,
                                        std::span<const std::byte> got);

/// Of a layer with a selection, which mistake in reading its lists of chosen keys gives the row.
/// Empty where none does, and beside a temperature. `got` as in likely_cause(), and finite.
[[nodiscard]] std::string cause_of_list(const Case& c, const Contents& contents,
                                        const Numerics& numerics, const RowId& id,
                                        std::span<const std::byte> got);

/// Which mistake in reading numbers in fp8 gives the row. Empty where none does,
/// and for layers with ALiBi, a temperature or dual chunks. `got` as in likely_cause(), and finite.
[[nodiscard]] std::string cause_of_scales(const Case& c, const Contents& contents,
                                          const Numerics& numerics, const RowId& id,
                                          std::span<const std::byte> got);

/// The factor by which all logits of a row are off: "logits 1.41 times as large (scale 1/sqrt(64)
/// for 1/sqrt(128)?)", where one gives the row that a backend got wrong, O and LSE. Well-known
/// factors are tried first; of rows of up to 8k keys any other is fitted. `right` is the row as it
/// should be, `got` O in the case's dtype with its LSE as f32 behind it. Empty where no factor
/// explains the row, and where O is right or the row sees too few keys to tell.
[[nodiscard]] std::string cause_of_factor(const Case& c, const Contents& contents,
                                          const Numerics& numerics, const ReferenceRow& right,
                                          std::span<const std::byte> got);

}  // namespace attnbench
