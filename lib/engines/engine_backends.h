// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/engines/engine_features.h"
#include "lib/engines/engine_setup.h"

namespace attnbench {

/// What an attention backend of an engine takes, on some devices and for one family of layers.
struct EngineBackend {
  enum class Layers : std::uint8_t {
    kMha,
    kMla,
    kSparseMla,
    kCompressedMla,  ///< of rows of several tokens beside a window
    kMsa,  ///< heads of K and V over blocks of keys that an indexer picks for each KV head
    kQsa,  ///< the same over pools of keys for all heads
    kLinear,
    kVision,  ///< of a vision tower, beside the language model's (SGLang: --mm-attention-backend)
  };
  enum class Drafts : std::uint8_t {
    kNone,
    kChains,              ///< topk 1
    kTreesOnSinglePages,  ///< any topk, where pages have one token; chains elsewhere
    kTrees,
  };

  Engine engine;
  std::string name;  ///< "fa3", "FLASH_ATTN"
  Layers layers = Layers::kMha;
  Platform platform = Platform::kCuda;
  int least_capability = 0, most_capability = 999;
  bool decodes_only = false;  ///< on these devices, with target_verify and draft_extend_v2 steps
  /// Sizes that its kernels read, ascending; those of vLLM also read multiples of them, because it
  /// divides its blocks. Empty: any size.
  std::vector<std::int64_t> pages;
  std::vector<std::int64_t> fp8_pages;  ///< the same of a cache in fp8, where they are others
  Drafts drafts = Drafts::kChains;
  CudaGraphSupport graph = CudaGraphSupport::kUniformBatch;
  // SGLang's graphs of two more steps with a fixed number of tokens a request.
  bool draft_extend_graph = false;
  bool diffusion_graph = false;
  EngineFeatures takes;
  EngineFeatures not_invariant;   ///< of those, what it does not take from deterministic servers
  EngineFeatures not_fp8;         ///< the same over a cache in fp8
  EngineFeatures unknown;         ///< neither sources nor documentation say
  bool of_model = false;          ///< the model's layers bring it: no flag of the server names it
  bool only_dual_chunks = false;  ///< for models with dual chunks, and no others
  bool f32 = false;               ///< queries in f32, too (vLLM; SGLang does not ask)
  bool unequal_dims = false;      ///< K and V of different head dims, and no others (the same)
  std::vector<std::int64_t> head_dims;  ///< empty: any
  int least_dim = 1, most_dim = 4096;   ///< head dims that the row holds for
  /// Query heads that its kernel always computes: queries of a rank with fewer are padded (vLLM's
  /// cutlass_mla.py and SGLang's cutlass_mla_decode). 0: as many as there are.
  int padded_heads = 0;
};

/// The backends of an engine's version that exist on a device of the setup's kind, in a fixed
/// order. A backend whose kernels depend on the GPU is listed once, as it is on this GPU.
[[nodiscard]] std::vector<const EngineBackend*> engine_backends(Engine engine,
                                                                const EngineSetup& setup);

/// The family of layers that a setup's model has, or its step is of.
[[nodiscard]] EngineBackend::Layers layers_of(const EngineSetup& setup);

/// Whether a step could be one of a vision tower: no cache, no causality, plain heads.
[[nodiscard]] bool may_be_vision(const EngineSetup& setup);

/// The one of this name, for the setup's family of layers where it has rows for several. Null when
/// there is none of the name on such a device.
[[nodiscard]] const EngineBackend* find_engine_backend(Engine engine, std::string_view name,
                                                       const EngineSetup& setup);

/// Why a backend does not fit device, model or data types; empty when it does. An engine's choice
/// passes over such a backend, or the server ends when it is asked for it. Features that are
/// `ignored` are not looked at.
[[nodiscard]] std::string model_refusal(const EngineBackend& backend, const EngineSetup& setup,
                                        EngineFeatures ignored = {});

/// Why the engine's choice passes over it; empty where it would take it. vLLM's looks at the
/// features that its version validates, and at pages that a user asks for; SGLang's looks at
/// nothing.
[[nodiscard]] std::string validation_refusal(const EngineBackend& backend,
                                             const EngineSetup& setup);

/// Why the engine records no CUDA graph of the setup's step with it; empty where it does.
[[nodiscard]] std::string graph_refusal(const EngineBackend& backend, const EngineSetup& setup);

/// Why it does not fit the server's settings, which could be set otherwise: page size, draft trees,
/// CUDA graph; empty when it does.
[[nodiscard]] std::string setting_refusal(const EngineBackend& backend, const EngineSetup& setup);

/// The first of both; empty: nothing is known that it does not take.
[[nodiscard]] std::string refusal_of(const EngineBackend& backend, const EngineSetup& setup);

/// Of what the setup asks for, that of which is not known whether the backend takes it: "sinks,
/// softcap". Empty: all is known.
[[nodiscard]] std::string unknown_of(const EngineBackend& backend, const EngineSetup& setup);

/// EngineBackend::pages of such a cache.
[[nodiscard]] const std::vector<std::int64_t>& pages_of(const EngineBackend& backend,
                                                        bool fp8_cache);

/// Whether its kernels read pages of this many tokens.
[[nodiscard]] bool reads_pages_of(const EngineBackend& backend, std::int64_t page_size,
                                  bool fp8_cache);

}  // namespace attnbench
