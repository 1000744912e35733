// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/tensor_view.h"
#include "lib/device/device.h"

namespace attnbench {

/// What attention over some of the keys leaves of each row, which is all that attention over the
/// rest needs of it (FlashInfer's attention state).
struct AttentionState {
  TensorView out;       ///< [T, Hq, dv], normalised
  TensorView lse;       ///< [T, Hq, 1] f32, natural log; -inf where a row has seen no key
  float out_scale = 1;  ///< of a merged output in fp8: what is stored is the output divided by it
};

/// Two states of the same rows, and where they go together.
struct StatesToMerge {
  AttentionState a, b, to;
  /// On the device: how many tokens there are, the first of T; the others' rows stay as they are.
  /// Null: all.
  const std::int32_t* tokens = nullptr;
};

/// Enqueues, for each row, lse = log(exp(a.lse) + exp(b.lse)) and out = exp(a.lse - lse) a.out +
/// exp(b.lse - lse) b.out; 0 and -inf where both are -inf (FlashInfer's merge_state). Sums are f32.
using MergeStates = void (*)(const StatesToMerge& states, Stream& stream);

/// States in f32, an output of any type.
void merge_states_on_cpu(const StatesToMerge& states, Stream& stream);
/// States in bf16 or f16, an output of their type or in fp8; dv is a multiple of 8, rows of 16 bits
/// begin at multiples of 16 bytes, others of 8.
void merge_states_on_gpu(const StatesToMerge& states, Stream& stream);

}  // namespace attnbench
