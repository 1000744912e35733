// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace attnbench
