// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/tensor_view.h"

namespace attnbench {

/// What a layer reads and writes beside the KV cache; borrowed. T query tokens, Hq query and Hkv KV
/// heads. A recurrent layer has keys of Hq heads, outputs of Hkv heads, and no LSE.
struct AttentionTensors {
  /// [T, Hq, dk], as stored: of a step with queries in fp8, before its scale. Of dual-chunk
  /// attention [T, Hq, 3 dk]: intra, succ, inter.
  ConstTensorView q;
  /// [T, Hq, dv] and [T, Hq, dk - dv], dense, in the place of q, which is empty then: of a layer
  /// whose queries come apart (AttentionLayer::queries_apart). Empty otherwise.
  ConstTensorView q_nope, q_pe;
  /// [T, Hkv, dk] this step's keys in the type of the activations; they are in the cache already.
  ConstTensorView k_new;
  ConstTensorView v_new;         ///< [T, Hkv, dv] values; MLA: a view of k_new's first dv columns
  const float* sinks = nullptr;  ///< [Hq] numbers that bf16 holds exactly, or null
  // Of a recurrent layer alone, as the engine's gating kernel leaves them.
  ConstTensorView g;     ///< [T, Hkv, 1] f32 log decay, at most 0
  ConstTensorView beta;  ///< [T, Hkv, 1] f32 inside (0, 1)
  TensorView out;        ///< [T, Hq, dv]
  TensorView lse;        ///< [T, Hq, 1] f32, natural log, sink included, -inf for an empty row
  float q_scale = 1;     ///< QScales::kTensor: a stored q times it is the query
  /// As Fp8Activations::q_scales says, dense, see q_scale_array(); null under QScales::kTensor.
  const float* q_scales = nullptr;
  /// What is stored of an output in fp8 is the output divided by it, rounded to nearest even and
  /// saturating.
  float out_scale = 1;
};

}  // namespace attnbench
