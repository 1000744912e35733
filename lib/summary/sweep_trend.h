// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// A time that does not fit those beside it in a sweep: a wrong figure, or a kernel that another
/// choice was made for. Either should be known before a curve is drawn or interpolated.
struct OffTrend {
  const Record* record;
  std::string along;  ///< the swept key: "batch[0].kv_len"
  double ratio;       ///< its time over what the two neighbours lead to expect
};

/// Points between two neighbours along a swept number, of the same backend in the same mode with
/// the same other swept values. A point is off where it lies beyond both neighbours, and more than
/// a factor of 2 off the line between them in logarithms: the knee of a curve that rises lies
/// between them. Of two such points side by side the farther one is off. They point into `run`.
[[nodiscard]] std::vector<OffTrend> off_trend(const RunResult& run);

/// "2 figures are more than 2 × off the trend of their sweep: decode/kv_len2k/cpu_flash/cold/eager
/// takes 4.8 × what its neighbours along batch[0].kv_len lead to expect"; the farthest one is
/// named. Empty where none is off.
[[nodiscard]] std::string off_trend_text(const RunResult& run);

}  // namespace attnbench
