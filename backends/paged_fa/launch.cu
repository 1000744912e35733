// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/launch.h"

#include <bit>

#include "backends/paged_fa/dispatch.cuh"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

paged_fa::CompiledKernel find(const PagedFaKernel& kernel) {
  const bool half = kernel.dtype == DType::kF16;
  if (!half && kernel.dtype != DType::kBF16) return {};
  if (kernel.kv_dtype == kernel.dtype) {
    if (kernel.tile == PagedFaTile::kMany) {
      return half ? paged_fa::f16_many_rows_kernel(kernel)
                  : paged_fa::bf16_many_rows_kernel(kernel);
    }
    return half ? paged_fa::f16_kernel(kernel) : paged_fa::bf16_kernel(kernel);
  }
  if (kernel.kv_dtype == DType::kE4M3) {
    return half ? paged_fa::f16_e4m3_kernel(kernel) : paged_fa::bf16_e4m3_kernel(kernel);
  }
  if (kernel.kv_dtype == DType::kE5M2) {
    return half ? paged_fa::f16_e5m2_kernel(kernel) : paged_fa::bf16_e5m2_kernel(kernel);
  }
  return {};
}

}  // namespace

bool paged_fa_has_kernel(const PagedFaKernel& kernel) { return find(kernel).function != nullptr; }

void prepare_paged_fa(const PagedFaKernel& kernel) {
  const paged_fa::CompiledKernel found = find(kernel);
  expects(found.function != nullptr, "no kernel for what supports() accepted");
  check_cuda(cudaFuncSetAttribute(found.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  found.shared_bytes),
             "cudaFuncSetAttribute");
}

void launch_paged_fa(const PagedFaKernel& kernel, const PagedFaParams& params, void* stream) {
  const paged_fa::CompiledKernel found = find(kernel);
  PagedFaParams p = params;
  const auto page_size = static_cast<unsigned>(p.page_size);
  p.page_shift = std::has_single_bit(page_size) ? std::countr_zero(page_size) : -1;
  const auto blocks =
      static_cast<unsigned>(params.num_items) * static_cast<unsigned>(params.heads_kv);
  found.function<<<blocks, static_cast<unsigned>(found.threads),
                   static_cast<std::size_t>(found.shared_bytes),
                   static_cast<cudaStream_t>(stream)>>>(p);
  check_launch("paged_fa");
}

}  // namespace attnbench
