// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"

// What every attention kernel on a GPU is told of a batch, as plain data that kernels take by value
// inside their parameters. Addresses are the device's; strides count bytes.
namespace attnbench {

struct ForwardBatch;

/// Where the rows of the result lie, and what a row's end needs.
struct OutputParams {
  std::byte* out = nullptr;  ///< [T, Hq, dv] in out_dtype: the activations' type, or fp8
  std::int64_t out_token_stride = 0, out_head_stride = 0;
  std::byte* lse = nullptr;  ///< [T, Hq] f32, natural log
  std::int64_t lse_token_stride = 0, lse_head_stride = 0;
  const float* sinks = nullptr;  ///< [Hq] or null
  bool sink_in_lse = true;       ///< false: the LSE is of the keys only
  std::int32_t heads_kv = 1;
  std::int32_t group = 1;  ///< query heads per KV head
  float v_scale = 1;       ///< over the scale of outputs in fp8
  // Of caches with a scale per head or request; null otherwise.
  const float* v_scales = nullptr;  ///< [Hkv], or [B, Hkv]
  std::int32_t request_scales = 0;  ///< scales from one request to the next
  DType out_dtype = DType::kBF16;
};

/// The tensors that are read, too, and the layer's rules.
struct AttentionParams : OutputParams {
  const std::byte* q = nullptr;  ///< [T, Hq, dk], or [T, Hq, 3, dk] of dual-chunk attention
  std::int64_t q_token_stride = 0, q_head_stride = 0, q_variant_stride = 0;
  const std::byte* k = nullptr;
  const std::byte* v = nullptr;
  const float* k_scales = nullptr;  ///< as v_scales
  std::int32_t page_size = 1;
  std::int32_t page_shift = 0;  ///< log2(page_size), or -1 where that is none
  std::int64_t k_page_stride = 0, k_token_stride = 0, k_head_stride = 0;
  std::int64_t v_page_stride = 0, v_token_stride = 0, v_head_stride = 0;

  // Draft trees only; null otherwise. DraftTreeArrays sets them.
  const std::uint8_t* custom_mask = nullptr;  ///< per request [q_len, kv_len], 1 = visible
  const std::int64_t* mask_indptr = nullptr;  ///< [B], in elements
  const std::int64_t* positions = nullptr;    ///< [T]

  float scale = 1;                   ///< of q.k, the cache's k_scale included
  float softcap = 0;                 ///< 0: off
  std::int32_t temperature_len = 0;  ///< lib/model/attention_layer.h; 0: off
  float temperature_per_log2 = 0;    ///< 1 / log2(temperature_len)
  std::int32_t window = -1;
  bool window_by_depth = false;  ///< in draft trees
  std::int32_t chunk = 0;        ///< keys of a chunk, of which a query sees its own; 0: no chunks
  bool causal = true;            ///< false for cross attention too
  std::int32_t block = 1;        ///< AttentionLayer::causal_block
  std::int32_t alibi_power = 0;  ///< lib/model/attention_layer.h; 0: no ALiBi
};

/// Both take addresses and strides from the batch's tensors and its KV pool, and the rest from the
/// problem's layer. They throw InternalError where a window, a chunk, temperature_len or a page has
/// 2^31 tokens or more.
void set_output_params(OutputParams& params, const ForwardBatch& batch);
void set_attention_params(AttentionParams& params, const ForwardBatch& batch);

}  // namespace attnbench
