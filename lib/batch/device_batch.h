// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/tensor_view.h"

namespace attnbench {

/// The batch's index tensors in the memory of the device that computes, where an engine keeps them
/// too. Lives in the fixture. B requests, T query tokens. A recurrent layer has kv_lens, qo_indptr,
/// positions and what leads to its states, other layers all but the latter; a cross layer has no
/// mask, since each node of a draft tree sees all keys of the encoder.
struct DeviceBatch {
  const std::int32_t* req_to_token = nullptr;      ///< [rows, req_to_token_stride]
  std::int64_t req_to_token_stride = 0;            ///< max_context_len of the pool
  const std::int32_t* req_pool_indices = nullptr;  ///< [B]
  const std::int32_t* block_table = nullptr;       ///< [B, block_table_width] pages; -1: none
  std::int64_t block_table_width = 0;
  const std::int64_t* out_cache_loc = nullptr;  ///< [T] slots of this step's keys
  const std::int32_t* kv_lens = nullptr;    ///< [B] ForwardBatch::kv_len: this step's keys included
  const std::int32_t* qo_indptr = nullptr;  ///< [B + 1] query tokens, cumulative
  const std::int64_t* positions = nullptr;  ///< [T]
  /// As SpecInfo's; null without a draft tree, and in layers that do not read it: beside an encoder
  /// and recurrent ones.
  const std::uint8_t* custom_mask = nullptr;
  const std::int64_t* mask_indptr = nullptr;  ///< [B + 1]; null where custom_mask is
  const std::int32_t* spans = nullptr;  ///< [T, 2] as ForwardBatch's; null where there are none
  /// [T, groups, topk] and [T, groups] as ChosenKeys'; null where the layer has no selection.
  const std::int32_t* topk_indices = nullptr;
  const std::int32_t* topk_length = nullptr;
  const float* topk_scores =
      nullptr;  ///< [T, groups, topk] likewise; null where nothing is weighed
  /// A selector of the same step leaves the lists, and the scores, at these addresses in every step
  /// to which a recorded plan is updated: they are to be read when it runs.
  bool lists_stay = false;
  const std::int32_t* state_indices = nullptr;      ///< [B] as ForwardBatch's
  const std::uint8_t* has_initial_state = nullptr;  ///< [B] as ForwardBatch's
  /// [T] as SpecInfo's; null without a draft tree.
  const std::int32_t* retrieve_parent_token = nullptr;
};

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
  ConstTensorView g;            ///< [T, Hkv, AttentionLayer::gate_dims()] f32 log decay, at most 0;
                                ///< lightning: the same for all tokens
  ConstTensorView beta;         ///< [T, Hkv, 1] f32 inside (0, 1); lightning: 1
  const float* skip = nullptr;  ///< [Hkv] D of Mamba-2, or null
  TensorView out;               ///< [T, Hq, dv]
  TensorView lse;     ///< [T, Hq, 1] f32, natural log, sink included, -inf for an empty row
  float q_scale = 1;  ///< QScales::kTensor: a stored q times it is the query
  /// As Fp8Activations::q_scales says, dense, see q_scale_array(); null under QScales::kTensor.
  const float* q_scales = nullptr;
  /// What is stored of an output in fp8 is the output divided by it, rounded to nearest even and
  /// saturating.
  float out_scale = 1;
};

/// One recurrent layer's states as kernels address them: [slots, heads, K, V] f32, dense, V
/// contiguous, or, `v_first`, [slots, heads, V, K] (KvLayout). A step reads and rewrites the slots
/// of its requests in place, a target_verify reads them alone. Slot 0 is the dummy of padding; no
/// request owns it.
struct StatePool {
  float* data = nullptr;
  std::int64_t slots = 0;  ///< dummy included
  std::int64_t heads = 0;  ///< value heads
  std::int64_t dim_k = 0;
  std::int64_t dim_v = 0;
  bool v_first = false;

  /// Elements of one request's states.
  [[nodiscard]] constexpr std::int64_t slot_size() const { return heads * dim_k * dim_v; }
  /// Elements from a key dim to the next, and from a value dim.
  [[nodiscard]] constexpr std::int64_t stride_k() const { return v_first ? 1 : dim_v; }
  [[nodiscard]] constexpr std::int64_t stride_v() const { return v_first ? dim_k : 1; }
  /// The elements of one head.
  [[nodiscard]] constexpr float* state(std::int64_t slot, std::int64_t head) const {
    return data + slot * slot_size() + head * dim_k * dim_v;
  }
};

}  // namespace attnbench
