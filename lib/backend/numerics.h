// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/base/dtype.h"

namespace attnbench {

/// What a backend's results are held to. The error bounds follow from where it rounds. Operands are
/// rounded as they are stored; k_scale and v_scale join sums in f32.
struct Numerics {
  DType qk_input = DType::kF32;  ///< operands of q.k after any conversion
  DType p = DType::kF32;         ///< softmax weights before P.V, and V beside them
  DType accumulator = DType::kF32;
  DType partial_out = DType::kF32;  ///< split results between stages
  int partial_roundings = 1;        ///< how often one is rounded on its way into the output
  bool lse = true;                  ///< false: it writes no LSE, and none is looked at
};

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
