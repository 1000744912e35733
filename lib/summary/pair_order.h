// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "lib/result/ranking.h"

namespace attnbench {

/// Of each cell that a backend has right: the logarithm of its time over the fastest's.
using CellLogs = std::map<ComparisonKey, double>;

/// The order in which backends stand in a ranking, as indices: the more cells the higher, but above
/// the first one that it beats. Of two, the one with the smaller geometric mean over the cells that
/// both have beats the other, if these are at least half of the cells of either: a mean over other
/// cells says nothing, and one over few cells little. Of equal ones the order stays.
[[nodiscard]] std::vector<std::size_t> pair_order(const std::vector<CellLogs>& backends);

/// The explanation of pair_order().
inline constexpr const char* kPairOrderLegend =
    "order: most right cells first, but each above the first that it beats by geomean over the "
    "cells that both have right, if these are half of either's";

}  // namespace attnbench
