// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/engine_rules/engine_backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

namespace attnbench {
namespace {

using Layers = EngineBackend::Layers;
using Drafts = EngineBackend::Drafts;

constexpr Engine kS = Engine::kSglang, kV = Engine::kVllm;
constexpr CudaGraphSupport kSingle = CudaGraphSupport::kUniformSingleTokenDecode;

// SGLang's fa4 is not among them: its row in the documentation is older than the rule that chooses
// it. SGLang records decodes and target_verify steps, with each backend that lets it.
constexpr EngineBackend kTable[] = {
    {.engine = kS,
     .name = "flashinfer",
     .least_capability = 80,
     .drafts = Drafts::kTrees,
     .fp8_cache = true,
     .window = true,
     .cross = true,
     .logit_cap = true},
    {.engine = kS,
     .name = "fa3",
     .least_capability = 80,
     .most_capability = 90,
     .drafts = Drafts::kTreesOnSinglePages,
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .cross = true,
     .logit_cap = true},
    {.engine = kS,
     .name = "triton",
     .drafts = Drafts::kTreesOnSinglePages,
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .logit_cap = true},
    {.engine = kS,
     .name = "trtllm_mha",
     .least_capability = 100,
     .most_capability = 109,
     .pages = {16, 32, 64},
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .cross = true},
    {.engine = kS,
     .name = "torch_native",
     .drafts = Drafts::kNone,
     .graph = CudaGraphSupport::kNever},
    {.engine = kS,
     .name = "flex_attention",
     .drafts = Drafts::kNone,
     .graph = CudaGraphSupport::kNever},
    {.engine = kS, .name = "flashinfer", .layers = Layers::kMla, .least_capability = 80},
    {.engine = kS,
     .name = "flashmla",
     .layers = Layers::kMla,
     .least_capability = 90,
     .most_capability = 90,
     .pages = {64},
     .fp8_cache = true},
    {.engine = kS,
     .name = "cutlass_mla",
     .layers = Layers::kMla,
     .least_capability = 100,
     .most_capability = 109,
     .pages = {128},
     .fp8_cache = true,
     .padded_heads = 128},
    {.engine = kS,
     .name = "trtllm_mla",
     .layers = Layers::kMla,
     .least_capability = 100,
     .most_capability = 109,
     .pages = {32, 64},
     .fp8_cache = true},
    {.engine = kS,
     .name = "fa3",
     .layers = Layers::kMla,
     .least_capability = 90,
     .most_capability = 90,
     .drafts = Drafts::kTreesOnSinglePages},
    {.engine = kS, .name = "triton", .layers = Layers::kMla, .drafts = Drafts::kTreesOnSinglePages},
    {.engine = kS, .name = "aiter", .platform = Platform::kRocm, .drafts = Drafts::kTrees},
    {.engine = kS, .name = "wave", .platform = Platform::kRocm, .drafts = Drafts::kNone},
    {.engine = kS,
     .name = "triton",
     .platform = Platform::kRocm,
     .drafts = Drafts::kTreesOnSinglePages,
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .logit_cap = true},

    // FlashAttention 2, 3 and 4.
    {.engine = kV,
     .name = "FLASH_ATTN",
     .least_capability = 80,
     .most_capability = 89,
     .pages = {16},
     .window = true,
     .cross = true,
     .logit_cap = true},
    {.engine = kV,
     .name = "FLASH_ATTN",
     .least_capability = 90,
     .most_capability = 99,
     .pages = {16},
     .graph = CudaGraphSupport::kAlways,
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .cross = true,
     .logit_cap = true},
    {.engine = kV,
     .name = "FLASH_ATTN",
     .least_capability = 100,
     .pages = {16},
     .window = true,
     .cross = true,
     .logit_cap = true},
    {.engine = kV,
     .name = "FLASH_ATTN_DIFFKV",
     .least_capability = 80,
     .pages = {16},
     .window = true,
     .logit_cap = true,
     .unequal_dims = true},
    // Its own kernels, and on Blackwell TensorRT-LLM's.
    {.engine = kV,
     .name = "FLASHINFER",
     .least_capability = 75,
     .most_capability = 99,
     .pages = {16, 32, 64},
     .graph = kSingle,
     .fp8_cache = true,
     .window = true,
     .logit_cap = true,
     .head_dims = {64, 128, 256}},
    {.engine = kV,
     .name = "FLASHINFER",
     .least_capability = 100,
     .most_capability = 109,
     .pages = {16, 32, 64},
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .logit_cap = true,
     .head_dims = {64, 128, 256}},
    {.engine = kV,
     .name = "FLASHINFER",
     .least_capability = 110,
     .most_capability = 121,
     .pages = {16, 32, 64},
     .graph = kSingle,
     .fp8_cache = true,
     .window = true,
     .logit_cap = true,
     .head_dims = {64, 128, 256}},
    {.engine = kV,
     .name = "TRITON_ATTN",
     .pages = {16},
     .graph = CudaGraphSupport::kAlways,
     .fp8_cache = true,
     .sinks = true,
     .window = true,
     .cross = true,
     .logit_cap = true,
     .f32 = true},
    {.engine = kV,
     .name = "FLEX_ATTENTION",
     .graph = CudaGraphSupport::kNever,
     .window = true,
     .logit_cap = true,
     .f32 = true},
    {.engine = kV,
     .name = "TREE_ATTN",
     .pages = {16},
     .drafts = Drafts::kTrees,
     .graph = CudaGraphSupport::kNever,
     .window = true,
     .logit_cap = true},
    {.engine = kV,
     .name = "FLASH_ATTN_MLA",
     .layers = Layers::kMla,
     .least_capability = 90,
     .most_capability = 99,
     .pages = {16}},
    {.engine = kV,
     .name = "FLASHMLA",
     .layers = Layers::kMla,
     .least_capability = 90,
     .most_capability = 90,
     .pages = {64},
     .fp8_cache = true},
    {.engine = kV,
     .name = "FLASHINFER_MLA",
     .layers = Layers::kMla,
     .least_capability = 100,
     .most_capability = 109,
     .pages = {32, 64},
     .fp8_cache = true},
    {.engine = kV,
     .name = "CUTLASS_MLA",
     .layers = Layers::kMla,
     .least_capability = 100,
     .most_capability = 109,
     .pages = {128},
     .graph = kSingle,
     .fp8_cache = true,
     .padded_heads = 128},
    {.engine = kV,
     .name = "TRITON_MLA",
     .layers = Layers::kMla,
     .pages = {16},
     .graph = CudaGraphSupport::kNever,
     .fp8_cache = true},
    {.engine = kV,
     .name = "FLASHMLA_SPARSE",
     .layers = Layers::kSparseMla,
     .least_capability = 90,
     .most_capability = 109,
     .pages = {64},
     .fp8_cache = true},
};

std::string_view words_of(Layers layers) {
  switch (layers) {
    case Layers::kMha:
      return "separate heads of K and V";
    case Layers::kMla:
      return "MLA";
    case Layers::kSparseMla:
      return "MLA over keys that an indexer picks";
  }
  return "?";
}

/// Those of a table's array, which 0 ends.
template <class Array>
std::vector<typename Array::value_type> given(const Array& values) {
  return {values.begin(), std::ranges::find(values, 0)};
}

bool exists_on(const EngineBackend& backend, const EngineDevice& device) {
  return backend.platform == device.platform && backend.least_capability <= device.capability &&
         device.capability <= backend.most_capability;
}

/// "built for sm90", "built for sm80 to sm90", "built for sm80 and later".
std::string devices_of(const EngineBackend& backend) {
  const int least = backend.least_capability, most = backend.most_capability;
  if (least == most) return fmt::format("built for sm{}", least);
  if (most == 999) return fmt::format("built for sm{} and later", least);
  return fmt::format("built for sm{} to sm{}", least, most);
}

std::string pages_text(const EngineBackend& backend) {
  return fmt::format("{}{}", fmt::join(given(backend.pages), ", "),
                     backend.engine == Engine::kVllm ? " or multiples" : " only");
}

}  // namespace

EngineBackend::Layers layers_of(const EngineSetup& setup) {
  if (setup.is_dsa) return Layers::kSparseMla;
  return setup.is_mla ? Layers::kMla : Layers::kMha;
}

std::vector<const EngineBackend*> engine_backends(Engine engine, const EngineDevice& device) {
  std::vector<const EngineBackend*> found;
  for (const EngineBackend& each : kTable) {
    if (each.engine != engine || each.platform != device.platform) continue;
    const auto same = std::ranges::find_if(found, [&](const EngineBackend* other) {
      return other->name == each.name && other->layers == each.layers;
    });
    if (same == found.end()) {
      found.push_back(&each);
    } else if (exists_on(each, device)) {
      *same = &each;
    }
  }
  return found;
}

const EngineBackend* find_engine_backend(Engine engine, std::string_view name,
                                         const EngineSetup& setup) {
  const EngineBackend* found = nullptr;
  for (const EngineBackend* each : engine_backends(engine, setup.device)) {
    if (each->name != name) continue;
    if (found == nullptr || each->layers == layers_of(setup)) found = each;
  }
  return found;
}

bool reads_pages_of(const EngineBackend& backend, std::int64_t page_size) {
  const auto pages = given(backend.pages);
  return pages.empty() || std::ranges::any_of(pages, [&](std::int64_t size) {
           return page_size == size || (backend.engine == Engine::kVllm && page_size % size == 0);
         });
}

std::string model_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const auto dims = given(backend.head_dims);
  if (backend.layers != layers_of(setup)) {
    return fmt::format("for {} only", words_of(backend.layers));
  }
  if (!exists_on(backend, setup.device)) return devices_of(backend);
  if (!dims.empty() && std::ranges::find(dims, setup.head_dim_qk) == dims.end()) {
    return fmt::format("head dims {} only, not {}", fmt::join(dims, ", "), setup.head_dim_qk);
  }
  if (backend.engine == Engine::kVllm && setup.has_unequal_dims() != backend.unequal_dims) {
    return backend.unequal_dims ? "K and V of different head dims only"
                                : fmt::format("K and V of one head dim, not {} and {}",
                                              setup.head_dim_qk, setup.head_dim_v);
  }
  if (setup.dtype == DType::kF32 && backend.engine == Engine::kVllm && !backend.f32) {
    return "queries in f16 or bf16 only";
  }
  if (setup.has_fp8_cache() && !backend.fp8_cache) return "no fp8 cache";
  if (setup.has_sinks && !backend.sinks) return "no sinks";
  if (setup.has_window && !backend.window) return "no sliding window";
  if (setup.is_encoder_decoder && !backend.cross) return "no cross attention";
  if (setup.has_logit_cap && !backend.logit_cap) return "no softcap";
  return {};
}

std::string setting_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  if (setup.page_size > 0 && !reads_pages_of(backend, setup.page_size)) {
    return fmt::format("pages of {}, not {}", pages_text(backend), setup.page_size);
  }
  if (setup.topk > 0 && backend.drafts == Drafts::kNone) return "no speculative decoding";
  if (setup.topk > 1 && backend.drafts == Drafts::kChains) {
    return fmt::format("drafts with topk 1 only, not {}", setup.topk);
  }
  if (setup.topk > 1 && setup.page_size > 1 && backend.drafts == Drafts::kTreesOnSinglePages) {
    return fmt::format("topk {} over pages of 1 only, not {}", setup.topk, setup.page_size);
  }
  if (setup.graph > backend.graph) {
    return fmt::format("no CUDA graph of such a step: it needs {}, {} claims {}",
                       to_string(setup.graph), backend.name, to_string(backend.graph));
  }
  return {};
}

std::string refusal_of(const EngineBackend& backend, const EngineSetup& setup) {
  std::string refusal = model_refusal(backend, setup);
  return refusal.empty() ? setting_refusal(backend, setup) : refusal;
}

}  // namespace attnbench
