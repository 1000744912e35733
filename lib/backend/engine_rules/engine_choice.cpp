// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/engine_rules/engine_choice.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/engine_rules/engine_backends.h"

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
  if (s.is_dual_chunk) return {"dual_chunk_flash_attn", "the model has dual chunk attention"};
  if (s.is_dsa) return {"nsa", "an indexer of the model picks the keys (DSA)"};
  if (s.is_encoder_decoder) return {"flashinfer", "encoder-decoder models take flashinfer"};
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

Decision decide_sglang(const EngineSetup& s) {
  if (const Decision special = special_of_sglang(s); !special.backend.empty()) return special;
  return s.is_mla ? mla_of_sglang(s) : mha_of_sglang(s);
}

std::vector<std::string_view> priorities_of_vllm(const EngineSetup& s) {
  const bool blackwell = s.device.is_cuda_major(10);
  if (s.is_mla && blackwell) {
    return {"FLASHINFER_MLA", "CUTLASS_MLA", "FLASH_ATTN_MLA",
            "FLASHMLA",       "TRITON_MLA",  "FLASHMLA_SPARSE"};
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
  for (const std::string_view name : priorities_of_vllm(s)) {
    const EngineBackend* row = find_engine_backend(Engine::kVllm, name, s);
    const bool installed = s.has_flashinfer || !name.starts_with("FLASHINFER");
    const std::string refusal = installed ? model_refusal(*row, s) : "not installed";
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

std::string flags_of(Engine engine, std::string_view backend, const EngineBackend* row,
                     const EngineSetup& s) {
  std::string flags = fmt::format("--attention-backend {}", backend);
  flags += page_flag(engine, row, s.page_size);
  if (s.has_fp8_cache()) {
    flags +=
        s.kv_dtype == DType::kE4M3 ? " --kv-cache-dtype fp8_e4m3" : " --kv-cache-dtype fp8_e5m2";
  }
  if (engine == Engine::kSglang && s.topk > 0) {
    flags += fmt::format(" --speculative-eagle-topk {}", s.topk);
  }
  return flags;
}

}  // namespace

EngineChoice choose_backend(Engine engine, const EngineSetup& setup) {
  const Decision decision = engine == Engine::kSglang ? decide_sglang(setup) : decide_vllm(setup);
  EngineChoice choice{std::string(decision.backend), decision.reason, {}, {}};
  if (choice.backend.empty()) return choice;
  const EngineBackend* row = find_engine_backend(engine, choice.backend, setup);
  choice.flags = flags_of(engine, choice.backend, row, setup);
  if (row != nullptr) choice.caveat = refusal_of(*row, setup);
  return choice;
}

}  // namespace attnbench
