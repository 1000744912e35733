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
  TensorView out;  ///< [T, Hq, dv], normalised
  TensorView lse;  ///< [T, Hq, 1] f32, natural log; -inf where a row has seen no key
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
/// States and output in bf16, or all in f16; dv is a multiple of 8, rows begin at
/// multiples of 16 bytes.
void merge_states_on_gpu(const StatesToMerge& states, Stream& stream);

}  // namespace attnbench
