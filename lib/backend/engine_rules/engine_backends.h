// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/engine_rules/engine_setup.h"

namespace attnbench {

/// What an attention backend of an engine takes, on some devices and for one family of layers.
/// Sources: SGLang's docs/advanced_features/attention_backend.md, vLLM's
/// docs/design/attention_backends.md and its classes' AttentionCGSupport.
struct EngineBackend {
  enum class Layers : std::uint8_t { kMha, kMla, kSparseMla };
  enum class Drafts : std::uint8_t {
    kNone,
    kChains,              ///< topk 1
    kTreesOnSinglePages,  ///< any topk, where pages have one token; chains elsewhere
    kTrees,
  };

  Engine engine;
  std::string_view name;  ///< "fa3", "FLASH_ATTN"
  Layers layers = Layers::kMha;
  Platform platform = Platform::kCuda;
  int least_capability = 0, most_capability = 999;
  /// Sizes that its kernels read, ascending; those of vLLM also read multiples of them, because it
  /// divides its blocks. All 0: any size.
  std::array<std::int64_t, 3> pages{};
  Drafts drafts = Drafts::kChains;
  CudaGraphSupport graph = CudaGraphSupport::kUniformBatch;
  bool fp8_cache = false, sinks = false, window = false, cross = false, logit_cap = false;
  bool f32 = false;                ///< queries in f32, too (vLLM; SGLang does not ask)
  bool unequal_dims = false;       ///< K and V of different head dims, and no others (the same)
  std::array<int, 3> head_dims{};  ///< all 0: any
  /// Query heads that its kernel always computes: queries of a rank with fewer are padded (vLLM's
  /// cutlass_mla.py and SGLang's cutlass_mla_decode). 0: as many as there are.
  int padded_heads = 0;
};

/// Those of an engine that exist on a device of this kind, in a fixed order: a backend whose
/// kernels depend on the GPU is listed once, as it is on this GPU.
[[nodiscard]] std::vector<const EngineBackend*> engine_backends(Engine engine,
                                                                const EngineDevice& device);

/// The family of layers that a setup's model has.
[[nodiscard]] EngineBackend::Layers layers_of(const EngineSetup& setup);

/// The one of this name, for the setup's family of layers where it has rows for several. Null when
/// there is none of the name on such a device.
[[nodiscard]] const EngineBackend* find_engine_backend(Engine engine, std::string_view name,
                                                       const EngineSetup& setup);

/// Why a backend does not fit device, model or data types; empty when it does. An engine's choice
/// passes over such a backend, or the server ends when it is asked for it.
[[nodiscard]] std::string model_refusal(const EngineBackend& backend, const EngineSetup& setup);

/// Why it does not fit the server's settings, which could be set otherwise: page size, draft trees,
/// CUDA graph; empty when it does.
[[nodiscard]] std::string setting_refusal(const EngineBackend& backend, const EngineSetup& setup);

/// The first of both; empty: it takes the step.
[[nodiscard]] std::string refusal_of(const EngineBackend& backend, const EngineSetup& setup);

/// Whether its kernels read pages of this many tokens.
[[nodiscard]] bool reads_pages_of(const EngineBackend& backend, std::int64_t page_size);

}  // namespace attnbench
