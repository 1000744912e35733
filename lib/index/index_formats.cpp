// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/index_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lib/base/error.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/two_batch_overlap.h"
#include "lib/index/format_arrays.h"

namespace attnbench {
namespace {

// Why a step has no arrays of a format. Empty: it has them.

std::string always(const IndexStep&) { return ""; }

/// Whether a draft tree has a node with more than one child.
bool has_branches(const IndexStep& step) {
  return step.batch.spec_info && step.batch.spec_info->topk > 1;
}

/// Why formats that divide the keys among a request's queries have none for some request. Those
/// that only fill a batch up may have a query and no key.
std::string without_own_keys(const IndexStep& step) {
  for (std::int64_t r = 0; r < step.batch.batch_size; ++r) {
    if (step.batch.kv_len(r) < step.batch.q_len(r) && !is_padding(step.batch, r)) {
      return fmt::format("request {} has more queries than keys", r);
    }
  }
  return "";
}

std::string without_prefix(const IndexStep& step) {
  if (step.problem.layer.is_cross_attention) {
    return "an encoder's keys are no prefix of the decoder's tokens";
  }
  if (is_decode_or_idle(step.problem.mode)) {
    return "a decode reads all its keys at once, as csr lists them";
  }
  return without_own_keys(step);
}

std::string without_window(const IndexStep& step) {
  return step.problem.layer.sliding_window_size < 0 ? "the layer has no sliding window" : "";
}

std::string without_full_pool(const IndexStep& step) {
  const AttentionLayer& layer = step.problem.layer;
  if (layer.sliding_window_size < 0 && layer.attention_chunk == 0) {
    return "the layer has neither a sliding window nor chunks";
  }
  if (step.problem.cache.layout == KvLayout::kRagged) return "ragged keys lie in no pool";
  return step.problem.swa_pool ? "the pool is such a layer's own already" : "";
}

std::string without_tree(const IndexStep& step) {
  if (!step.batch.spec_info) return "only a target_verify step has a draft tree";
  return step.problem.layer.is_cross_attention
             ? "a draft tree is of the decoder's own keys: each node sees all of the encoder's"
             : "";
}

std::string without_new_keys(const IndexStep& step) {
  const bool is_cross = step.problem.layer.is_cross_attention;
  return is_cross && step.batch.encoder_out_cache_loc.empty() ? "no encoder's keys are new" : "";
}

std::string without_splits(const IndexStep& step) {
  if (step.problem.mode != ForwardMode::kDecode) return "these rules cut the keys of decodes";
  for (std::int64_t r = 0; r < step.batch.batch_size; ++r) {
    if (step.batch.kv_len(r) == 0) {
      return "Triton's rules divide by the shortest request, which is empty";
    }
  }
  return "";
}

std::string without_second_batch(const IndexStep& step) {
  return has_two_batch_split(step.problem.mode)
             ? ""
             : "SGLang's rule knows extend, mixed, decode, target_verify and idle steps only";
}

std::string without_padding(const IndexStep& step) {
  return is_cuda_graph(step.problem.mode) ? ""
                                          : "only decode, target_verify and idle steps are padded";
}

/// Kernels that decode from a latent cache, and verify chains.
std::string without_latent_decode(const IndexStep& step) {
  if (!step.problem.layer.shares_row_of_k_and_v()) return "the layer has no latent cache (MLA)";
  if (!without_padding(step).empty()) {
    return "its kernel computes decode and target_verify steps only";
  }
  return has_branches(step) ? "its kernel verifies chains, not trees that branch" : "";
}

std::string without_flashmla(const IndexStep& step) {
  if (std::string why = without_latent_decode(step); !why.empty()) return why;
  return step.problem.cache.page_size != 64 ? "FlashMLA reads pages of 64 tokens" : "";
}

std::string without_trtllm_mla(const IndexStep& step) {
  if (std::string why = without_latent_decode(step); !why.empty()) return why;
  const std::int64_t page_size = step.problem.cache.page_size;
  return page_size != 32 && page_size != 64 ? "TRT-LLM MLA reads pages of 32 or 64 tokens" : "";
}

std::string without_chunks(const IndexStep& step) {
  const std::int64_t chunk = step.problem.layer.attention_chunk;
  const std::int64_t page_size = step.problem.cache.page_size;
  if (chunk == 0) return "the layer is not chunked";
  if (has_branches(step)) return "virtual requests are causal: no branches of a draft tree";
  return chunk % page_size != 0
             ? fmt::format("a chunk of {} tokens is no whole number of pages of {}", chunk,
                           page_size)
             : without_own_keys(step);
}

std::string without_dual_chunks(const IndexStep& step) {
  const std::int64_t page_size = step.problem.cache.page_size;
  if (!step.problem.layer.dual_chunk.exists()) return "the layer has no dual chunks";
  if (step.problem.mode != ForwardMode::kDecode) {
    return "these are a decode's: a prompt is run chunk by chunk";
  }
  const std::int64_t chunk = step.problem.layer.dual_chunk.step();
  return chunk % page_size == 0
             ? ""
             : fmt::format("a dual chunk of {} keys is no whole number of pages of {}", chunk,
                           page_size);
}

std::string without_items(const IndexStep& step) {
  return step.batch.multi_item ? "" : "no request is scored by items";
}

constexpr IndexFormat kFormats[] = {
    {"req_to_token", "SGLang's index builders", always, req_to_token_arrays},
    {"csr", "FlashInfer, Triton, aiter", always, csr_arrays},
    {"csr_prefix", "Triton's extend, FlashInfer beside a ragged prefill", without_prefix,
     csr_prefix_arrays},
    {"csr_window", "sliding-window layers of FlashInfer and Triton", without_window,
     csr_window_arrays},
    {"page_table", "FlashAttention, TRT-LLM MHA", always, page_table_arrays},
    {"varlen", "FlashAttention", always, varlen_arrays},
    {"block_table", "vLLM, CUTLASS MLA", always, block_table_arrays},
    {"slot_mapping", "vLLM's write of new keys", without_new_keys, slot_mapping_arrays},
    {"kv_splits", "decodes of Triton, FlashInfer and FlashAttention 3 (132 SMs)", without_splits,
     kv_splits_arrays},
    {"flashmla", "FlashMLA's dense decode (132 SMs)", without_flashmla, flashmla_arrays},
    {"trtllm_mla", "TRT-LLM MLA", without_trtllm_mla, trtllm_mla_arrays},
    {"local_attention", "FlashAttention in chunked layers", without_chunks, local_attention_arrays},
    {"dual_chunk", "SGLang's dual_chunk_flash_attn", without_dual_chunks, dual_chunk_arrays},
    {"multi_item", "FlashInfer's prefill with items to score", without_items, multi_item_arrays},
    {"swa", "layers with a window or chunks and a pool of their own", without_full_pool,
     swa_arrays},
    {"tree_mask", "FlashInfer (packed), Triton", without_tree, tree_mask_arrays},
    {"draft_table", "FlashAttention's second stage of a verify", without_tree, draft_table_arrays},
    {"tbo", "SGLang's two-batch overlap", without_second_batch, two_batch_overlap_arrays},
    {"graph_padding", "a CUDA graph of the next captured size", without_padding,
     graph_padding_arrays},
};

}  // namespace

std::span<const IndexFormat> index_formats() { return kFormats; }

const IndexFormat& index_format(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &IndexFormat::name);
  if (found != std::end(kFormats)) return *found;
  std::vector<std::string_view> names;
  for (const IndexFormat& format : kFormats) names.push_back(format.name);
  const std::string likely = likely_names(name, names);
  throw std::invalid_argument(fmt::format("there is no index format '{}'; {}", name,
                                          likely.empty()
                                              ? fmt::format("known: {}", fmt::join(names, " "))
                                              : fmt::format("did you mean {}?", likely)));
}

BuiltIndices build_indices(const IndexFormat& format, const IndexStep& step) {
  BuiltIndices built{&format, {}, {}};
  built.why_not = step.problem.layer.is_recurrent()
                      ? std::string("a recurrent layer has no KV cache to index")
                      : format.why_not(step);
  if (built.why_not.empty()) built.arrays = format.build(step);
  return built;
}

}  // namespace attnbench
