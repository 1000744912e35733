// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/backend/backend_info.h"
#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/forward_mode.h"
#include "lib/batch/fp8_activations.h"
#include "lib/model/linear_attention_kind.h"

namespace attnbench {

enum class Engine : std::uint8_t { kSglang, kVllm };
inline constexpr Engine kEngines[] = {Engine::kSglang, Engine::kVllm};
/// "SGLang", "vLLM".
[[nodiscard]] std::string_view to_string(Engine engine);
/// The versions whose rules attnbench has, newest first: "0.33.0", "0.22.0".
[[nodiscard]] std::span<const std::string> engine_versions(Engine engine);
/// The index in engine_versions() of "0.22.0", or for "0.22" of the first that begins with "0.22.".
[[nodiscard]] std::optional<std::size_t> find_engine_version(Engine engine, std::string_view text);

enum class Platform : std::uint8_t { kCuda, kRocm, kCpu, kXpu, kNpu, kMps };

/// A processor as the engines' rules tell them apart.
struct EngineDevice {
  std::string_view name;  ///< "sm90", "gfx942", "cpu"
  Platform platform = Platform::kCuda;
  int capability = 0;  ///< of an NVIDIA GPU, major and minor digit: 90, 103; 0 of any other

  [[nodiscard]] bool is_cuda_major(int major) const {
    return platform == Platform::kCuda && capability / 10 == major;
  }
};

/// All that a user may name.
[[nodiscard]] std::span<const EngineDevice> engine_devices();
/// The one of this name, which DeviceInfo::arch may also spell "sm_90". Null when there is none.
[[nodiscard]] const EngineDevice* find_engine_device(std::string_view name);

/// What chooses the keys of a model's sparse layers, as engines tell them apart.
enum class SparseAttention : std::uint8_t {
  kNone,
  kDsa,         ///< an indexer of latent attention picks keys (DeepSeek-V3.2)
  kPooledDsa,   ///< the same in pools of keys (GLM-5.3-Flash)
  kQsa,         ///< pools of keys, beside heads of K and V (Qwen4)
  kMsa,         ///< blocks of keys for each KV head (MiniMax-M3)
  kCompressed,  ///< rows of several tokens each beside a window (DeepSeek-V4)
};

/// What engines look at when nobody names an attention backend: the device, what is installed
/// there, the model, and how the server was started.
struct EngineSetup {
  EngineDevice device;
  /// Each engine's version, as an index in engine_versions(): 0 is the newest.
  std::array<std::size_t, 2> version{};
  // What the engines' own wheels of today bring.
  int cuda_version = 1300;  ///< of the engine's PyTorch, as CUDA_VERSION / 10: 1203 is 12.3
  bool has_flashinfer = true;
  bool has_amx = true;  ///< of a CPU: Intel's matrix instructions

  // The model's attention layers, on one rank.
  bool is_mla = false;
  SparseAttention sparse = SparseAttention::kNone;
  bool is_dual_chunk = false;  ///< dual chunk attention (Qwen with 1M tokens)
  bool is_encoder_decoder = false;
  bool is_whisper = false;  ///< which of all encoder-decoders has a rule of its own in SGLang
  bool has_sinks = false;
  bool has_window = false;  ///< of some layers, or of all
  bool has_chunks = false;  ///< chunked local attention of some layers (Llama 4)
  bool has_logit_cap = false;
  bool has_alibi = false;
  bool has_temperature = false;  ///< Grok's, beyond temperature_len
  bool sees_ahead = false;       ///< not causal, and no cross attention: an encoder
  bool has_selection = false;    ///< a query of this step sees only keys that another kernel chose
  bool has_spans = false;        ///< spans of its prompts see each other both ways: images
  /// What its linear layers compute (Qwen3-Next); none: it has no such layers.
  std::optional<LinearAttentionKind> linear;
  int heads_q = 0;
  int head_dim_qk = 0,
      head_dim_v = 0;  ///< MLA: of a cached row and of its latent part, 576 and 512
  DType dtype = DType::kBF16;

  // The server.
  DType kv_dtype = DType::kBF16;
  KvScales kv_scales = KvScales::kTensor;  ///< of an fp8 cache
  bool is_x_packed = false;                ///< KvLayout::kXPacked
  std::int64_t page_size = 0;              ///< tokens (vLLM: block size); 0: not asked for
  int topk = 0;                      ///< children of a node of the draft trees; 0: no speculation
  bool window_counts_depth = false;  ///< of a window in draft trees: WindowInTrees::kDepth
  bool is_deterministic = false;     ///< equal requests have equal outputs in batches of any size
  bool uses_dcp = false;             ///< decode context parallelism

  // The step, where it is a certain one.
  std::optional<ForwardMode> mode;  ///< none: the server is to run them all
  bool of_linear_layer = false;     ///< of one of the model's linear layers, not of attention
  bool is_ragged = false;           ///< keys and values as projections leave them: there is no pool
  bool scores_items = false;        ///< multi-item scoring
  std::optional<DType> q_fp8;       ///< the type of queries that are stored in fp8
  QScales q_scales = QScales::kTensor;
  bool has_fp8_output = false;
  /// What the step's CUDA graph needs; kNever: it is launched without one.
  CudaGraphSupport graph = CudaGraphSupport::kNever;

  /// "0.33.0".
  [[nodiscard]] const std::string& version_of(Engine engine) const {
    return engine_versions(engine)[version[static_cast<std::size_t>(engine)]];
  }
  [[nodiscard]] bool has_fp8_cache() const {
    return kv_dtype == DType::kE4M3 || kv_dtype == DType::kE5M2;
  }
  [[nodiscard]] bool is_dsa() const {
    return sparse == SparseAttention::kDsa || sparse == SparseAttention::kPooledDsa;
  }
  [[nodiscard]] bool has_unequal_dims() const { return !is_mla && head_dim_qk != head_dim_v; }
};

}  // namespace attnbench
