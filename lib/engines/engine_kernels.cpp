// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_kernels.h"

namespace attnbench {
namespace {

struct KernelRow {
  enum class Step : std::uint8_t { kAny, kDecode, kPrompt };

  Engine engine;
  std::string_view backend;
  Step step;
  int least_capability, most_capability;
  int least_group;  ///< query heads per KV head; of an fp8 cache any
  std::string_view kernel;
  int least_dim = 0, most_dim = 4096;  ///< head dims of keys; 0: a record does not say
};

using Step = KernelRow::Step;
constexpr Engine kSgl = Engine::kSglang, kVl = Engine::kVllm;

// SGLang decodes on tensor cores from 4 query heads per KV head on, and from fp8 caches
// (should_use_tensor_core in flashinfer_backend.py), vLLM always. TensorRT-LLM's decodes are XQA's
// on Hopper and on GeForce's Blackwell (is_xqa_impl in trtllm_mha_backend.py).
constexpr KernelRow kKernels[] = {
    {kSgl, "fa3", Step::kAny, 0, 999, 0, "fa3:tokenspeed"},
    {kSgl, "fa3", Step::kAny, 0, 999, 0, "vllm:fa3"},
    {kSgl, "fa3", Step::kAny, 0, 999, 0, "vllm:fa3_mla"},
    {kSgl, "flashinfer", Step::kDecode, 0, 999, 4, "flashinfer:decode_tc"},
    {kSgl, "flashinfer", Step::kDecode, 0, 999, 0, "flashinfer:decode"},
    {kSgl, "flashinfer", Step::kDecode, 0, 999, 0, "flashinfer:mla_fa2"},
    {kSgl, "flashinfer", Step::kPrompt, 0, 999, 0, "flashinfer:ragged_paged"},
    {kSgl, "flashinfer", Step::kPrompt, 0, 999, 0, "flashinfer:prefill_fa2"},
    {kSgl, "flashinfer", Step::kPrompt, 0, 999, 0, "flashinfer:mla_fa2"},
    {kSgl, "flashmla", Step::kAny, 0, 999, 0, "vllm:flashmla"},
    {kSgl, "dsa", Step::kAny, 90, 99, 0, "flashmla:sgl_sparse"},
    {kSgl, "dsa", Step::kDecode, 90, 99, 0, "vllm:fa3_mla_sparse"},
    {kSgl, "dsa", Step::kAny, 90, 99, 0, "flashmla:sgl_sparse_prefill"},
    {kSgl, "triton", Step::kDecode, 0, 999, 0, "sglang:triton_decode"},
    {kSgl, "triton", Step::kPrompt, 0, 999, 0, "sglang:triton_extend"},
    {kSgl, "trtllm_mha", Step::kDecode, 90, 90, 0, "flashinfer:xqa"},
    {kSgl, "trtllm_mha", Step::kDecode, 120, 121, 0, "flashinfer:xqa"},
    {kSgl, "flex_attention", Step::kAny, 0, 999, 0, "torch:flex"},
    {kVl, "FLASH_ATTN", Step::kAny, 80, 89, 0, "vllm:fa2"},
    {kVl, "FLASH_ATTN", Step::kAny, 90, 99, 0, "vllm:fa3", 0, 256},
    {kVl, "FLASH_ATTN", Step::kAny, 90, 99, 0, "fa4:vllm", 257, 512},
    {kVl, "FLASH_ATTN", Step::kAny, 110, 999, 0, "vllm:fa2"},
    {kVl, "FLASHINFER", Step::kDecode, 0, 99, 0, "flashinfer:decode_tc"},
    {kVl, "FLASHINFER", Step::kPrompt, 90, 99, 0, "flashinfer:prefill_fa3"},
    {kVl, "FLASHINFER", Step::kPrompt, 0, 89, 0, "flashinfer:prefill_fa2"},
    {kVl, "TRITON_ATTN", Step::kAny, 0, 999, 0, "vllm:triton_unified"},
    {kVl, "TRITON_FLASH_ATTN", Step::kAny, 90, 99, 0, "vllm:triton_flash_attn"},
    {kVl, "FLEX_ATTENTION", Step::kAny, 0, 999, 0, "torch:flex"},
    {kVl, "FLASH_ATTN_MLA", Step::kAny, 90, 99, 0, "vllm:fa3_mla"},
    {kVl, "FLASH_ATTN_MLA_SPARSE", Step::kAny, 90, 99, 0, "vllm:fa3_mla_sparse"},
    {kVl, "FLASHMLA", Step::kAny, 0, 999, 0, "vllm:flashmla"},
    {kVl, "FLASHMLA_SPARSE", Step::kAny, 90, 99, 0, "vllm:flashmla_sparse"},
    {kVl, "FLASHMLA_SPARSE", Step::kAny, 90, 99, 0, "vllm:flashmla_sparse_prefill"},
    {kVl, "FLASHMLA_SPARSE_DSV4", Step::kAny, 90, 99, 0, "vllm:flashmla_dsv4_prefill"},
    {kVl, "FLASHINFER_MLA_SPARSE_SM90", Step::kAny, 90, 99, 0, "flashinfer:sparse_mla"},
    {kVl, "TRITON_MLA", Step::kDecode, 0, 999, 0, "vllm:triton_mla"},
};

bool applies(const KernelRow& row, const KernelUse& use) {
  const bool step = row.step == Step::kAny || (row.step == Step::kDecode) == use.decodes;
  return step && row.least_capability <= use.capability && use.capability <= row.most_capability &&
         (row.least_group <= use.group_size || use.fp8_cache) && row.least_dim <= use.head_dim &&
         use.head_dim <= row.most_dim;
}

}  // namespace

std::vector<std::string_view> kernels_of(Engine engine, std::string_view backend,
                                         const KernelUse& use) {
  std::vector<std::string_view> kernels;
  for (const KernelRow& row : kKernels) {
    if (row.engine == engine && row.backend == backend && applies(row, use)) {
      kernels.push_back(row.kernel);
    }
  }
  return kernels;
}

std::string_view engine_backend_of(Engine engine, std::string_view kernel) {
  for (const KernelRow& row : kKernels) {
    if (row.engine != engine || !kernel.starts_with(row.kernel)) continue;
    const std::string_view variant = kernel.substr(row.kernel.size());
    if (variant.empty() || variant.front() == ':') return row.backend;
  }
  return {};
}

}  // namespace attnbench
