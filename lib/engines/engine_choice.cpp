// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_choice.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/engines/engine_backends.h"
#include "lib/engines/engine_features.h"

namespace attnbench {
namespace {

struct Decision {
  std::string_view backend;
  std::string reason;
};

/// FlashAttention 3 of SGLang is built for compute capability 9, with CUDA 12.3 or later.
bool has_fa3(const EngineSetup& s) { return s.device.is_cuda_major(9) && s.cuda_version >= 1203; }

/// What SGLang sets for Llama 4 (srt/arg_groups/overrides.py, _llama4_overrides, 0.5.17), draft
/// trees or not.
Decision chunked_of_sglang(const EngineSetup& s) {
  const std::string reason = "chunked layers (Llama 4) take ";
  if (s.device.is_cuda_major(10)) return {"trtllm_mha", reason + "trtllm_mha on Blackwell"};
  if (has_fa3(s)) return {"fa3", reason + "fa3 on Hopper"};
  if (s.device.platform == Platform::kRocm) return {"aiter", reason + "aiter on an AMD GPU"};
  return {"triton", reason + "triton where neither fa3 nor trtllm_mha runs"};
}

/// The rules of one device or one sort of model, which stand before all others.
Decision special_of_sglang(const EngineSetup& s) {
  switch (s.device.platform) {
    case Platform::kCpu:
      if (s.has_amx) return {"intel_amx", "a CPU with AMX takes intel_amx"};
      return {"torch_native", "a CPU without AMX takes torch_native"};
    case Platform::kXpu:
      return {"intel_xpu", "an Intel GPU takes intel_xpu"};
    case Platform::kNpu:
      return {"ascend", "an Ascend NPU takes ascend"};
    case Platform::kMps:
      return {"torch_native", "Apple's GPUs take torch_native"};
    case Platform::kCuda:
    case Platform::kRocm:
      break;
  }
  if (s.is_dual_chunk) {
    return {"dual_chunk_flash_attn", "the model has dual chunks, and the server ends with another"};
  }
  if (s.is_dsa) return {"dsa", "an indexer of the model picks the keys (DSA; formerly nsa)"};
  if (s.has_chunks) return chunked_of_sglang(s);
  return {};
}

Decision mla_of_sglang(const EngineSetup& s) {
  if (has_fa3(s)) return {"fa3", "MLA on Hopper with CUDA 12.3 or later takes fa3"};
  if (s.device.is_cuda_major(10)) return {"flashinfer", "MLA on Blackwell takes flashinfer"};
  if (s.device.platform == Platform::kRocm && (s.heads_q == 16 || s.heads_q == 128)) {
    return {"aiter", fmt::format("MLA with {} heads on an AMD GPU takes aiter", s.heads_q)};
  }
  return {"triton", "MLA takes triton where neither Hopper's nor Blackwell's kernels run"};
}

Decision mha_of_sglang(const EngineSetup& s) {
  if (s.device.platform == Platform::kRocm) return {"aiter", "an AMD GPU takes aiter"};
  const bool chains = s.topk <= 1;
  if (has_fa3(s) && chains) {
    return {"fa3", "Hopper with CUDA 12.3 or later takes fa3, unless drafts are trees"};
  }
  if (s.device.is_cuda_major(10) && chains) {
    if (s.has_unequal_dims()) {
      return {"fa4", "Blackwell takes fa4 where K and V have different head dims"};
    }
    return {"trtllm_mha", "Blackwell takes trtllm_mha, unless drafts are trees"};
  }
  const std::string trees = chains ? "" : fmt::format("drafts are trees (topk {}); ", s.topk);
  if (!s.has_flashinfer) return {"triton", trees + "flashinfer is not installed"};
  if (s.has_sinks) return {"triton", trees + "flashinfer has no sinks, triton has"};
  return {"flashinfer", trees + "flashinfer is installed and the model has no sinks"};
}

/// _deterministic_attention_backend, before the other rules. It asks for models of DeepSeek's
/// classes, which nearly all models of latent attention are.
Decision deterministic_of_sglang(const EngineSetup& s) {
  const bool blackwell = s.device.is_cuda_major(10) || s.device.is_cuda_major(12);
  if (!blackwell) return {"fa3", "deterministic inference takes fa3 up to Hopper"};
  if (s.is_mla) return {"triton", "deterministic inference of MLA takes triton on Blackwell"};
  return {"flashinfer", "deterministic inference takes flashinfer on Blackwell"};
}

/// _qwen3_5_hybrid_overrides, with a radix cache, whose default keeps a buffer of states beside it.
Decision delta_net_of_sglang(const EngineSetup& s) {
  const std::string reason = "beside gated delta nets Blackwell takes ";
  if (s.topk <= 1 && !s.has_unequal_dims()) return {"trtllm_mha", reason + "trtllm_mha"};
  return {"triton", reason + "triton where trtllm_mha does not do"};
}

Decision rule_of_sglang(const EngineSetup& s) {
  if (const Decision special = special_of_sglang(s); !special.backend.empty()) return special;
  if (s.is_deterministic && s.device.platform == Platform::kCuda) return deterministic_of_sglang(s);
  if (s.linear == LinearSort::kGatedDeltaNet && s.device.is_cuda_major(10)) {
    return delta_net_of_sglang(s);
  }
  // The first of _get_default_attn_backend in server_args.py.
  if (s.is_whisper) return {"flashinfer", "Whisper takes flashinfer, which records its graphs"};
  return s.is_mla ? mla_of_sglang(s) : mha_of_sglang(s);
}

/// The rule, and what SGLang puts in the place of its choice afterwards.
Decision decide_sglang(const EngineSetup& s) {
  // _dllm_attention_backend; the graphs of a server are on unless somebody turns them off.
  if (s.mode == ForwardMode::kDllmExtend && s.device.platform == Platform::kCuda) {
    return {"flashinfer", "block diffusion with CUDA graphs takes flashinfer"};
  }
  const Decision decision = rule_of_sglang(s);
  // _attention_backend_fa3_fp8_fallback.
  if (decision.backend == "fa3" && s.kv_dtype == DType::kE5M2) {
    return {"triton", "fa3 takes no e5m2 cache: the server warns and takes triton"};
  }
  return decision;
}

std::vector<std::string_view> priorities_of_vllm(const EngineSetup& s) {
  const bool blackwell = s.device.is_cuda_major(10);
  if (s.is_mla && blackwell) {
    // FLASHINFER_MLA_SPARSE before FLASHMLA_SPARSE where the cache is in fp8, or heads are few.
    const bool flashinfer_first = s.has_fp8_cache() || s.heads_q <= 16;
    return {"FLASHINFER_MLA",
            "CUTLASS_MLA",
            "FLASH_ATTN_MLA",
            "FLASHMLA",
            "TRITON_MLA",
            flashinfer_first ? "FLASHINFER_MLA_SPARSE" : "FLASHMLA_SPARSE",
            flashinfer_first ? "FLASHMLA_SPARSE" : "FLASHINFER_MLA_SPARSE"};
  }
  if (s.is_mla) {
    return {"FLASH_ATTN_MLA", "FLASHMLA", "FLASHINFER_MLA", "TRITON_MLA", "FLASHMLA_SPARSE"};
  }
  if (blackwell) return {"FLASHINFER", "FLASH_ATTN", "TRITON_ATTN", "FLEX_ATTENTION"};
  return {"FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLEX_ATTENTION"};
}

Decision decide_vllm(const EngineSetup& s) {
  if (s.device.platform == Platform::kCpu) return {"CPU_ATTN", "a CPU takes CPU_ATTN"};
  if (s.device.platform != Platform::kCuda) {
    return {"", fmt::format("attnbench has no rule of vLLM for {}", s.device.name)};
  }
  if (s.has_unequal_dims()) {
    return {"FLASH_ATTN_DIFFKV", "K and V have different head dims"};
  }
  std::string passed_over;
  const EngineFeatures ignored = features_of(s).without(validated_by_vllm());
  for (const std::string_view name : priorities_of_vllm(s)) {
    const EngineBackend* row = find_engine_backend(Engine::kVllm, name, s);
    const bool installed = s.has_flashinfer || !name.starts_with("FLASHINFER");
    const std::string refusal = installed ? model_refusal(*row, s, ignored) : "not installed";
    if (refusal.empty()) {
      return {name, passed_over.empty()
                        ? fmt::format("first of its list for {}{}", s.device.name,
                                      s.is_mla ? " and MLA" : "")
                        : fmt::format("first of its list that fits: {}", passed_over)};
    }
    passed_over += fmt::format("{}{} ({})", passed_over.empty() ? "not " : ", ", name, refusal);
  }
  return {"", fmt::format("none of its list fits: {}", passed_over)};
}

/// The engine's page size where nobody sets it.
std::int64_t usual_page_size(Engine engine) { return engine == Engine::kSglang ? 1 : 16; }

/// Where the backend does not read the pages asked for, the smallest that it reads.
std::string page_flag(Engine engine, const EngineBackend* row, std::int64_t asked) {
  std::int64_t size = asked > 0 ? asked : usual_page_size(engine);
  if (row != nullptr && !reads_pages_of(*row, size)) size = row->pages.front();
  if (size == usual_page_size(engine)) return {};
  return fmt::format(" --{}-size {}", engine == Engine::kSglang ? "page" : "block", size);
}

/// The server's word for the cache, which SGLang has for a tensor's scales alone.
std::string cache_flag(Engine engine, const EngineSetup& s) {
  if (!s.has_fp8_cache()) return {};
  std::string_view word = s.kv_dtype == DType::kE4M3 ? "fp8_e4m3" : "fp8_e5m2";
  if (engine == Engine::kVllm) {
    if (s.kv_scales == KvScales::kBlock || s.is_dsa) word = "fp8_ds_mla";
    if (s.kv_scales == KvScales::kToken) word = "fp8_per_token_head";
  }
  return fmt::format(" --kv-cache-dtype {}", word);
}

std::string flags_of(Engine engine, std::string_view backend, const EngineBackend* row,
                     const EngineSetup& s) {
  const bool sglang = engine == Engine::kSglang;
  std::string flags = s.is_deterministic && !sglang ? "VLLM_BATCH_INVARIANT=1 " : "";
  flags += fmt::format("--attention-backend {}", backend);
  flags += page_flag(engine, row, s.page_size) + cache_flag(engine, s);
  if (sglang && s.topk > 0) flags += fmt::format(" --speculative-eagle-topk {}", s.topk);
  if (sglang && s.is_deterministic) flags += " --enable-deterministic-inference";
  if (sglang && s.scores_items) flags += " --enable-mis";
  return flags;
}

/// What the backend does not take, or may not; empty: it takes all.
std::string caveat_of(const EngineBackend& row, const EngineSetup& setup) {
  std::string refusal = refusal_of(row, setup);
  if (!refusal.empty()) return refusal;
  const std::string unknown = unknown_of(row, setup);
  return unknown.empty() ? unknown : "not known to take: " + unknown;
}

Decision linear_of_sglang(LinearSort sort) {
  switch (sort) {
    case LinearSort::kGatedDeltaNet:
    case LinearSort::kKimiDelta:
      return {"triton", "the default of --linear-attn-backend, in HybridLinearAttnBackend"};
    case LinearSort::kLightning:
      return {"seg_la",
              "LightningAttentionBackend's default, of the models that SGLang has (Bailing's)"};
    case LinearSort::kMamba:
    case LinearSort::kMamba2:
    case LinearSort::kUnknown:
      break;
  }
  return {"", "attnbench does not know what these layers compute"};
}

Decision linear_of_vllm(LinearSort sort, const EngineDevice& device) {
  switch (sort) {
    case LinearSort::kGatedDeltaNet:
      return {"GDN_ATTN", device.capability == 90
                              ? "the backend of such layers; prompts take FlashInfer's kernel"
                              : "the backend of such layers"};
    case LinearSort::kKimiDelta:
      return {"GDN_ATTN", "the backend of such layers, as of gated delta nets"};
    case LinearSort::kLightning:
      return {"LINEAR_ATTN", "the backend of such layers"};
    case LinearSort::kMamba:
    case LinearSort::kMamba2:
    case LinearSort::kUnknown:
      break;
  }
  return {"", "attnbench does not know what these layers compute"};
}

Decision vision_of_sglang(const EngineDevice& device) {
  if (device.platform == Platform::kRocm) {
    return {"triton_attn", "vision towers on an AMD GPU take triton_attn, or with aiter its own"};
  }
  if (device.is_cuda_major(9)) return {"fa3", "vision towers on Hopper take fa3"};
  if (device.is_cuda_major(10) && device.capability != 103) {
    return {"fa4", "vision towers on sm100 take fa4"};
  }
  if (device.platform == Platform::kCuda) {
    return {"triton_attn", "vision towers take triton_attn but on Hopper and sm100"};
  }
  return {"", fmt::format("attnbench has no rule of vision towers for {}", device.name)};
}

/// The first of get_supported_vit_attn_backends that fits.
Decision vision_of_vllm(const EngineSetup& s) {
  if (s.device.platform != Platform::kCuda) {
    return {"", fmt::format("attnbench has no rule of vLLM for {}", s.device.name)};
  }
  const bool flash = s.device.capability >= 80 && s.dtype != DType::kF32;
  if (flash) return {"FLASH_ATTN", "first of its list for vision towers"};
  if (s.device.capability >= 80) return {"TRITON_ATTN", "first of its list that takes f32"};
  return {"TORCH_SDPA", "first of its list before sm80"};
}

EngineChoice choice_of(const Decision& decision) {
  return {std::string(decision.backend), decision.reason, {}, {}};
}

}  // namespace

EngineChoice choose_backend(Engine engine, const EngineSetup& setup) {
  EngineChoice choice =
      choice_of(engine == Engine::kSglang ? decide_sglang(setup) : decide_vllm(setup));
  if (choice.backend.empty()) return choice;
  const EngineBackend* row = find_engine_backend(engine, choice.backend, setup);
  // A row of other layers says nothing of these, which the rule takes the backend for.
  if (row != nullptr && row->layers != layers_of(setup)) row = nullptr;
  choice.flags = flags_of(engine, choice.backend, row, setup);
  if (row != nullptr) choice.caveat = caveat_of(*row, setup);
  return choice;
}

EngineChoice choose_linear_backend(Engine engine, const EngineSetup& setup) {
  const LinearSort sort = setup.linear.value_or(LinearSort::kUnknown);
  const bool sglang = engine == Engine::kSglang;
  if (!sglang && setup.device.platform != Platform::kCuda) {
    return choice_of({"", fmt::format("attnbench has no rule of vLLM for {}", setup.device.name)});
  }
  EngineChoice choice =
      choice_of(sglang ? linear_of_sglang(sort) : linear_of_vllm(sort, setup.device));
  // vLLM chooses by the layer's class, and nothing asks for another.
  if (sglang && choice.backend == "triton") choice.flags = "--linear-attn-backend triton";
  if (!sglang && setup.is_deterministic) choice.caveat = "no deterministic inference";
  return choice;
}

EngineChoice choose_vision_backend(Engine engine, const EngineSetup& setup) {
  const bool sglang = engine == Engine::kSglang;
  EngineChoice choice = choice_of(sglang ? vision_of_sglang(setup.device) : vision_of_vllm(setup));
  if (choice.backend.empty()) return choice;
  choice.flags = fmt::format("--{} {}", sglang ? "mm-attention-backend" : "mm-encoder-attn-backend",
                             choice.backend);
  return choice;
}

}  // namespace attnbench
