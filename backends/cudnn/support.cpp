// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/support.h"

#include <bit>
#include <cstdint>

#include "backends/common/no_recurrent.h"

namespace attnbench::cudnn {

Support supports(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  if (layer.is_recurrent()) return Support::no(kNoRecurrent);
  if (layer.shares_row_of_k_and_v()) {
    return Support::no("no MLA: K and V are read as separate tensors (see mla)");
  }
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only");
  }
  if (problem.cache.dtype != problem.dtype) {
    return Support::no(
        "KV cache in the activations' type only: on sm_90 cuDNN's fp8 attention has fp8 queries "
        "and an fp8 output");
  }
  if (problem.mode == ForwardMode::kTargetVerify && !problem.drafts_are_chains) {
    return Support::no(
        "no draft trees that branch: cuDNN has no mask of bits, only a bias as large as all "
        "logits");
  }
  if (problem.empty_rows) {
    return Support::no("no rows without keys: cuDNN writes NaN for them");
  }
  if (problem.multi_item) {
    return Support::no("no multi-item scoring: cuDNN's masks are causal ones and sliding windows");
  }
  if (layer.causal_block > 1) {
    return Support::no("no block diffusion: cuDNN's masks are causal ones and sliding windows");
  }
  if (layer.attention_chunk > 0) {
    return Support::no("no chunked attention: cuDNN's masks are causal ones and sliding windows");
  }
  if (layer.dual_chunk.exists()) {
    return Support::no("no dual chunks: cuDNN's queries have one form");
  }
  if (layer.logit_cap > 0) {
    return Support::no("no softcap: cuDNN has it in place of its masks, not beside them");
  }
  if (layer.temperature_len > 0) {
    return Support::no("no temperature: cuDNN scales all logits alike");
  }
  if (layer.has_alibi) {
    return Support::no("no ALiBi: cuDNN has none with queries aligned to the last key");
  }
  if (layer.head_dim_qk % 8 != 0 || layer.head_dim_v % 8 != 0 || layer.head_dim_qk > 256 ||
      layer.head_dim_v > 256) {
    return Support::no("head dims that are multiples of 8, at most 256");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(problem.cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (layer.has_sinks && problem.limits.q_len <= 1) {
    return Support::no("no sinks in steps of one query token per request, only in longer ones");
  }
  return Support::yes();
}

}  // namespace attnbench::cudnn
