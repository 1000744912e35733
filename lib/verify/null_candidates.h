// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/verify/verify.h"

namespace attnbench {

/// Bounds follow from what a backend declares, so that a backend could widen its own until any
/// result passes. Null candidates are results that nobody has to compute attention for: zeros, the
/// mean of V, the newest key only, the newer half of the keys, every sixth key. This function
/// judges them as if the backend had given them, with their LSEs where it declares any, and returns
/// why agreement with bounds so wide proves nothing: "zeros would pass: partial results declared in
/// e5m2, rounded 8 times, make the bounds as wide as the result". Empty when every candidate fails.
///
/// A candidate that also passes where nothing but the outputs is rounded below f32 is the case's
/// own answer (of one visible key all but zeros are) and says nothing about the declaration. Of
/// recurrent layers there are zeros only.
///
/// Most candidates fail on the first row that is looked at: the one that sees most keys, on normal
/// data. Only one that passes that row on every fill is evaluated on all rows.
[[nodiscard]] std::string passing_null_candidate(const Case& c, const Numerics& declared,
                                                 std::span<const FillTruth> truth);

}  // namespace attnbench
