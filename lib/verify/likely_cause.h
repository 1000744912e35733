// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/backend/numerics.h"
#include "lib/contents/contents.h"
#include "lib/verify/verdict.h"
#include "reference/oracle.h"

namespace attnbench {

/// Contexts beyond which no row is computed to find a cause: each costs the reference all keys of
/// the row.
inline constexpr std::int64_t kMostKeysToExplain = 1 << 17;

/// Which of the usual mistakes gives the row that a backend got wrong: "a window that reaches one
/// key too far". The reference computes the row of `id` under each changed rule that the case
/// leaves room for, or over other keys (cause_of_keys()), and the whole row has to agree. Where the
/// row is NaN, its bits tell memory that nobody wrote from what was computed out of it. `got` is O
/// in the case's dtype with its LSE as f32 behind it, of `contents`, which are the case's. Empty
/// where no rule explains the row, and for recurrent layers.
[[nodiscard]] std::string likely_cause(const Case& c, const Contents& contents,
                                       const Numerics& numerics, const RowId& id,
                                       std::span<const std::byte> got);

/// What stands before a cause in a verdict's reason.
inline constexpr std::string_view kCausePhrase = "; that is what one gets with ";

/// kCausePhrase and the cause of the row of the worst element, which may be that of another fill,
/// where a usual mistake gives it, else "". Nothing where the row is right, or none of `truth`.
/// `rows` are the outputs of all rows of `truth`, one behind the other.
[[nodiscard]] std::optional<std::string> cause_of_worst(const Case& c, const Contents& contents,
                                                        const Numerics& numerics,
                                                        const WorstElement& worst,
                                                        std::span<const ReferenceRow> truth,
                                                        std::span<const std::byte> rows);

}  // namespace attnbench
