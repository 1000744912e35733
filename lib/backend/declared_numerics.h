// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/backend/numerics.h"

namespace attnbench {

/// The most `Numerics::partial_roundings` that a backend may declare. The backends that merge
/// most, FlashInfer's XQA kernels, round a partial result three times.
inline constexpr int kMostPartialRoundings = 8;

/// What is wrong with a declaration, "accumulator is e4m3; …"; empty where nothing is. Sums of
/// attention are kept in f32, f16 or bf16: bounds that follow from sums in fp8 are as wide as the
/// result, which zeros would agree with.
[[nodiscard]] std::string refusal_of(const Numerics& declared);

/// What holds for all of several parts of a step: of each stage the loosest type, and an LSE where
/// all write one. Of none: f32 throughout.
[[nodiscard]] Numerics loosest(std::span<const Numerics> parts);

/// The stages that are declared in a type of larger roundings than `most`: "weights in e4m3, sums
/// in bf16"; empty where none is.
[[nodiscard]] std::string looser_than(DType most, const Numerics& declared);

}  // namespace attnbench
