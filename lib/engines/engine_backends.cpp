// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/batch/forward_mode.h"
#include "lib/engines/engine_rules.h"

namespace attnbench {
namespace {

using Layers = EngineBackend::Layers;
using Drafts = EngineBackend::Drafts;

std::string_view family_of(Layers layers) {
  switch (layers) {
    case Layers::kMha:
      return "separate heads of K and V";
    case Layers::kMla:
      return "dense MLA";
    case Layers::kSparseMla:
      return "MLA over keys that an indexer picks";
    case Layers::kCompressedMla:
      return "MLA over compressed rows";
    case Layers::kMsa:
      return "blocks of keys that an indexer picks for a KV head";
    case Layers::kQsa:
      return "heads of K and V over pools of keys that an indexer picks";
    case Layers::kLinear:
      return "linear layers";
    case Layers::kVision:
      return "vision towers";
  }
  return "?";
}

bool exists_on(const EngineBackend& backend, const EngineDevice& device) {
  return backend.platform == device.platform && backend.least_capability <= device.capability &&
         device.capability <= backend.most_capability;
}

/// "built for sm90", "built for sm80 to sm90", "built for sm80 and later"; "not built for sm75"
/// where the table has several rows of the backend, of which `backend` is one.
std::string device_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const EngineDevice& device = setup.device;
  if (exists_on(backend, device)) return {};
  const auto& all = rules_of(backend.engine, setup).backends;
  const auto rows = std::ranges::count_if(all, [&](const EngineBackend& each) {
    return each.name == backend.name && each.layers == backend.layers &&
           each.platform == backend.platform;
  });
  const int least = backend.least_capability, most = backend.most_capability;
  if (rows > 1) return fmt::format("not built for {}", device.name);
  if (least == most) return fmt::format("built for sm{}", least);
  if (most == 999) return fmt::format("built for sm{} and later", least);
  return fmt::format("built for sm{} to sm{}", least, most);
}

/// Whether a backend that decodes only takes such a step: TensorRT-LLM's decode kernel computes
/// those of a fixed number of tokens a request, too (forward_extend in trtllm_mha_backend.py).
bool decodes(ForwardMode mode) {
  return is_decode_or_idle(mode) || mode == ForwardMode::kTargetVerify ||
         mode == ForwardMode::kDraftExtendV2;
}

/// Whether the row is of such a head dim.
bool is_of_dim(const EngineBackend& backend, const EngineSetup& setup) {
  return backend.least_dim <= setup.head_dim_qk && setup.head_dim_qk <= backend.most_dim;
}

std::string dims_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const auto& dims = backend.head_dims;
  if (!dims.empty() && std::ranges::find(dims, setup.head_dim_qk) == dims.end()) {
    return fmt::format("head dims {} only, not {}", fmt::join(dims, ", "), setup.head_dim_qk);
  }
  if (!is_of_dim(backend, setup)) {
    return fmt::format("head dims of {} to {} only, not {}", backend.least_dim, backend.most_dim,
                       setup.head_dim_qk);
  }
  if (backend.engine != Engine::kVllm) return {};
  if (setup.has_unequal_dims() != backend.unequal_dims) {
    return backend.unequal_dims ? "K and V of different head dims only"
                                : fmt::format("K and V of one head dim, not {} and {}",
                                              setup.head_dim_qk, setup.head_dim_v);
  }
  if (setup.dtype == DType::kF32 && !backend.f32) return "queries in f16 or bf16 only";
  return {};
}

/// What SGLang asserts of models with gated delta nets on Blackwell (attn_backend_wrapper in
/// layers/attention/attention_registry.py).
std::string hybrid_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const bool blackwell = setup.device.platform == Platform::kCuda && setup.device.capability >= 100;
  if (backend.engine != Engine::kSglang || !blackwell ||
      setup.linear != LinearAttentionKind::kGatedDeltaNet || backend.name == "triton" ||
      backend.name == "trtllm_mha") {
    return {};
  }
  const bool geforce = setup.device.is_cuda_major(12);
  if (geforce && backend.name == "flashinfer") return {};
  return fmt::format("beside gated delta nets {} takes triton, trtllm_mha and {} only",
                     setup.device.name, geforce ? "flashinfer" : "fa4");
}

/// The table of an encoder's keys that SGLang's FlashAttention gets has slots, whatever the page
/// size, and the decoder's begins behind the encoder's tokens, in the middle of a page
/// (encoder_page_table and text_col in layers/attention/flashattention_backend.py, 0.5.17).
std::string encoder_pages_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const bool reads_tables = backend.engine == Engine::kSglang && backend.name == "fa3";
  if (!reads_tables || !setup.is_encoder_decoder || setup.page_size <= 1) return {};
  return fmt::format("beside an encoder, whose page table has slots, pages of 1 only, not {}",
                     setup.page_size);
}

/// "no sinks, no ALiBi"; "no fp8 cache" where it has neither type of it.
std::string feature_refusal(const EngineBackend& backend, EngineFeatures asked) {
  using enum EngineFeature;
  constexpr EngineFeatures kFp8 = {kE4m3Cache, kE5m2Cache};
  const EngineFeatures known = backend.takes.with(backend.unknown);
  EngineFeatures missing = asked.without(known);
  const bool lacks_cache = missing.has(kE4m3Cache) || missing.has(kE5m2Cache);
  if (lacks_cache && !known.has(kE4m3Cache) && !known.has(kE5m2Cache)) missing = missing.with(kFp8);
  const auto words = words_of(missing);
  return words.empty() ? "" : fmt::format("no {}", fmt::join(words, ", no "));
}

/// "no sinks with deterministic inference": what it takes, but not both.
std::string combination_refusal(const EngineBackend& backend, EngineFeatures asked) {
  using enum EngineFeature;
  const auto refusal = [&](EngineFeatures refused, std::string_view beside) -> std::string {
    const auto words = words_of(asked.within(refused));
    return words.empty() ? "" : fmt::format("no {} {}", fmt::join(words, ", no "), beside);
  };
  std::string found;
  if (asked.has(kInvariance))
    found = refusal(backend.not_invariant, "with deterministic inference");
  const bool fp8 = asked.has(kE4m3Cache) || asked.has(kE5m2Cache);
  return found.empty() && fp8 ? refusal(backend.not_fp8, "over an fp8 cache") : found;
}

std::string pages_text(const EngineBackend& backend, bool fp8_cache) {
  return fmt::format("{}{}", fmt::join(pages_of(backend, fp8_cache), ", "),
                     backend.engine == Engine::kVllm ? " or multiples" : " only");
}

std::string pages_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  const bool fp8_cache = setup.has_fp8_cache();
  if (setup.page_size == 0 || reads_pages_of(backend, setup.page_size, fp8_cache)) return {};
  return fmt::format("pages of {}, not {}", pages_text(backend, fp8_cache), setup.page_size);
}

}  // namespace

EngineBackend::Layers layers_of(const EngineSetup& setup) {
  if (setup.of_linear_layer) return Layers::kLinear;
  switch (setup.sparse) {
    case SparseAttention::kNone:
      break;
    case SparseAttention::kDsa:
    case SparseAttention::kPooledDsa:
      return Layers::kSparseMla;
    case SparseAttention::kQsa:
      return Layers::kQsa;
    case SparseAttention::kMsa:
      return Layers::kMsa;
    case SparseAttention::kCompressed:
      return Layers::kCompressedMla;
  }
  return setup.is_mla ? Layers::kMla : Layers::kMha;
}

bool may_be_vision(const EngineSetup& setup) {
  return setup.is_ragged && setup.sees_ahead && !setup.is_mla && !setup.of_linear_layer;
}

std::vector<const EngineBackend*> engine_backends(Engine engine, const EngineSetup& setup) {
  std::vector<const EngineBackend*> found;
  for (const EngineBackend& each : rules_of(engine, setup).backends) {
    if (each.platform != setup.device.platform) continue;
    const auto same = std::ranges::find_if(found, [&](const EngineBackend* other) {
      return other->name == each.name && other->layers == each.layers;
    });
    if (same == found.end()) {
      found.push_back(&each);
    } else if (exists_on(each, setup.device) &&
               (is_of_dim(each, setup) || !exists_on(**same, setup.device))) {
      *same = &each;
    }
  }
  return found;
}

const EngineBackend* find_engine_backend(Engine engine, std::string_view name,
                                         const EngineSetup& setup) {
  const EngineBackend* found = nullptr;
  for (const EngineBackend* each : engine_backends(engine, setup)) {
    if (each->name != name) continue;
    if (found == nullptr || each->layers == layers_of(setup)) found = each;
  }
  return found;
}

const std::vector<std::int64_t>& pages_of(const EngineBackend& backend, bool fp8_cache) {
  return fp8_cache && !backend.fp8_pages.empty() ? backend.fp8_pages : backend.pages;
}

bool reads_pages_of(const EngineBackend& backend, std::int64_t page_size, bool fp8_cache) {
  const auto& pages = pages_of(backend, fp8_cache);
  return pages.empty() || std::ranges::any_of(pages, [&](std::int64_t size) {
           return page_size == size || (backend.engine == Engine::kVllm && page_size % size == 0);
         });
}

std::string model_refusal(const EngineBackend& backend, const EngineSetup& setup,
                          EngineFeatures ignored) {
  const bool of_vision = backend.layers == Layers::kVision;
  if (of_vision ? !may_be_vision(setup) : backend.layers != layers_of(setup)) {
    return fmt::format("for {} only", family_of(backend.layers));
  }
  if (std::string refusal = device_refusal(backend, setup); !refusal.empty()) return refusal;
  if (backend.decodes_only && setup.mode && !decodes(*setup.mode)) {
    return fmt::format("decodes only on {}", setup.device.name);
  }
  if (backend.layers == Layers::kLinear) {  // whose model's other features are of other layers
    return feature_refusal(backend, features_of(setup).within({EngineFeature::kInvariance}));
  }
  if (std::string refusal = dims_refusal(backend, setup); !refusal.empty()) return refusal;
  if (setup.q_fp8 && (*setup.q_fp8 != DType::kE4M3 || *setup.q_fp8 != setup.kv_dtype)) {
    return "queries in fp8 are e4m3 beside a cache in e4m3";
  }
  if (backend.only_dual_chunks && !setup.is_dual_chunk) return "for models with dual chunks only";
  if (std::string refusal = hybrid_refusal(backend, setup); !refusal.empty()) return refusal;
  const EngineFeatures asked = features_of(setup).without(ignored);
  std::string refusal = feature_refusal(backend, asked);
  return refusal.empty() ? combination_refusal(backend, asked) : refusal;
}

std::string graph_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  if (setup.graph == CudaGraphSupport::kNever) return {};
  if (backend.layers == Layers::kVision) return "its CUDA graphs are not known here";
  const ForwardMode mode = setup.mode.value_or(ForwardMode::kDecode);
  const bool drafted = mode == ForwardMode::kDraftExtend || mode == ForwardMode::kDraftExtendV2;
  if (backend.engine == Engine::kSglang && setup.graph == CudaGraphSupport::kUniformBatch) {
    if (drafted && !backend.draft_extend_graph) {
      return fmt::format("no CUDA graph of {} steps", to_string(mode));
    }
    if (mode == ForwardMode::kDllmExtend && !backend.diffusion_graph) {
      return "no CUDA graph: with graphs, block diffusion takes flashinfer";
    }
  }
  if (backend.engine == Engine::kVllm && setup.has_chunks) {
    return "no CUDA graph of chunked layers";  // ChunkedLocalAttentionBuilder claims NEVER
  }
  if (setup.graph <= backend.graph) return {};
  return fmt::format("no CUDA graph of such a step: it needs {}, {} {} {}", to_string(setup.graph),
                     backend.name, backend.engine == Engine::kVllm ? "claims" : "has",
                     to_string(backend.graph));
}

std::string setting_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  if (std::string refusal = pages_refusal(backend, setup); !refusal.empty()) return refusal;
  if (std::string refusal = encoder_pages_refusal(backend, setup); !refusal.empty()) return refusal;
  if (setup.topk > 0 && backend.drafts == Drafts::kNone) return "no speculative decoding";
  if (setup.topk > 1 && backend.drafts == Drafts::kChains) {
    return fmt::format("drafts with topk 1 only, not {}", setup.topk);
  }
  if (setup.topk > 1 && setup.page_size > 1 && backend.drafts == Drafts::kTreesOnSinglePages) {
    return fmt::format("topk {} over pages of 1 only, not {}", setup.topk, setup.page_size);
  }
  // FlashInfer's window_left, FlashAttention's window_size and Triton's mask. In chains both are
  // one.
  if (setup.topk > 1 && setup.window_counts_depth) {
    return "windows of draft trees count places among the keys: in_trees: index";
  }
  return graph_refusal(backend, setup);
}

std::string validation_refusal(const EngineBackend& backend, const EngineSetup& setup) {
  if (backend.engine == Engine::kSglang) return {};
  const EngineFeatures validated = rules_of(backend.engine, setup).validated;
  if (!setup.has_flashinfer && backend.name.starts_with("FLASHINFER")) return "not installed";
  std::string refusal = model_refusal(backend, setup, features_of(setup).without(validated));
  return refusal.empty() ? pages_refusal(backend, setup) : refusal;
}

std::string refusal_of(const EngineBackend& backend, const EngineSetup& setup) {
  std::string refusal = model_refusal(backend, setup);
  return refusal.empty() ? setting_refusal(backend, setup) : refusal;
}

std::string unknown_of(const EngineBackend& backend, const EngineSetup& setup) {
  return fmt::format("{}", fmt::join(words_of(features_of(setup).within(backend.unknown)), ", "));
}

}  // namespace attnbench
