// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/index_formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/report/index_builders.h"

namespace attnbench {
namespace {

// Why a case has no arrays of a format. Empty: it has them.

std::string always(const Case&) { return ""; }

/// Whether a draft tree has a node that is not the child of the node before it.
bool has_branches(const Case& c) {
  return std::ranges::any_of(c.requests, [](const Request& request) {
    for (std::size_t i = 0; i < request.tree_parents.size(); ++i) {
      if (request.tree_parents[i] + 1 != static_cast<int>(i)) return true;
    }
    return false;
  });
}

std::string without_prefix(const Case& c) {
  if (c.layer.is_cross_attention) return "an encoder's keys are no prefix of the decoder's tokens";
  if (is_decode_or_idle(c.mode)) return "a decode reads all its keys at once, as csr lists them";
  return "";
}

std::string without_window(const Case& c) {
  return c.layer.sliding_window_size < 0 ? "the layer has no sliding window" : "";
}

std::string without_tree(const Case& c) {
  return c.mode != ForwardMode::kTargetVerify ? "only a target_verify step has a draft tree" : "";
}

std::string without_new_keys(const Case& c) {
  return c.layer.is_cross_attention ? "cross attention writes no keys in this step" : "";
}

std::string without_splits(const Case& c) {
  return c.mode != ForwardMode::kDecode ? "Triton cuts the keys of decodes only" : "";
}

std::string without_padding(const Case& c) {
  return is_decode_or_idle(c.mode) || c.mode == ForwardMode::kTargetVerify
             ? ""
             : "only decode, target_verify and idle steps are padded";
}

/// Kernels that decode from a latent cache, and verify chains.
std::string without_latent_decode(const Case& c) {
  if (!c.layer.shares_row_of_k_and_v()) return "the layer has no latent cache (MLA)";
  if (!without_padding(c).empty()) return "its kernel computes decode and target_verify steps only";
  return has_branches(c) ? "its kernel verifies chains, not trees that branch" : "";
}

std::string without_flashmla(const Case& c) {
  if (std::string why = without_latent_decode(c); !why.empty()) return why;
  return c.kv_cache.page_size != 64 ? "FlashMLA reads pages of 64 tokens" : "";
}

std::string without_trtllm_mla(const Case& c) {
  if (std::string why = without_latent_decode(c); !why.empty()) return why;
  return c.kv_cache.page_size != 32 && c.kv_cache.page_size != 64
             ? "TRT-LLM MLA reads pages of 32 or 64 tokens"
             : "";
}

std::string without_chunks(const Case& c) {
  if (c.attention_chunk == 0) return "the model has no chunked layers";
  if (c.layer.is_cross_attention || !c.layer.causal) return "chunked layers are causal";
  if (has_branches(c))
    return "branches of a draft tree share places in the text, which chunks count";
  return c.attention_chunk % c.kv_cache.page_size != 0
             ? fmt::format("a chunk of {} tokens is no whole number of pages of {}",
                           c.attention_chunk, c.kv_cache.page_size)
             : "";
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
    {"kv_splits", "Triton's decode (both of its rules, 132 SMs)", without_splits, kv_splits_arrays},
    {"flashmla", "FlashMLA's dense decode (132 SMs)", without_flashmla, flashmla_arrays},
    {"trtllm_mla", "TRT-LLM MLA", without_trtllm_mla, trtllm_mla_arrays},
    {"local_attention", "FlashAttention, for the model's chunked layers", without_chunks,
     local_attention_arrays},
    {"swa", "sliding-window layers with a pool of their own", without_window, swa_arrays},
    {"tree_mask", "FlashInfer (packed), Triton", without_tree, tree_mask_arrays},
    {"draft_table", "FlashAttention's second stage of a verify", without_tree, draft_table_arrays},
    {"graph_padding", "a CUDA graph of the next captured size", without_padding,
     graph_padding_arrays},
};

}  // namespace

std::span<const IndexFormat> index_formats() { return kFormats; }

BuiltIndices build_indices(const IndexFormat& format, const Case& c, const BatchLayout& layout) {
  BuiltIndices built{&format, format.why_not(c), {}};
  if (built.why_not.empty()) built.arrays = format.build(c, layout);
  return built;
}

}  // namespace attnbench
