// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/launch.h"

#include "backends/common/kernels_in_build.h"
#include "backends/splitkv/dispatch.cuh"
#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::splitkv {
namespace {

CompiledKernel find(const Kernel& kernel) {
  const DType kv = kernel.kv_dtype;
  if (kernel.dtype == DType::kBF16) {
    if (kv == DType::kBF16) return bf16_kernel(kernel);
    if (kv == DType::kE4M3) return bf16_e4m3_kernel(kernel);
  }
  if constexpr (kAllKernels) {
    if (kernel.dtype == DType::kBF16 && kv == DType::kE5M2) return bf16_e5m2_kernel(kernel);
    if (kernel.dtype == DType::kF16) {
      if (kv == DType::kF16) return f16_kernel(kernel);
      if (kv == DType::kE4M3) return f16_e4m3_kernel(kernel);
      if (kv == DType::kE5M2) return f16_e5m2_kernel(kernel);
    }
  }
  return {};
}

}  // namespace

bool has_kernel(const Kernel& kernel) { return find(kernel).function != nullptr; }

void prepare(const Kernel& kernel) {
  const CompiledKernel found = find(kernel);
  expects(found.function != nullptr, "no kernel for what supports() accepted");
  check_cuda(cudaFuncSetAttribute(found.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  found.shared_bytes),
             "cudaFuncSetAttribute");
}

void launch(const Kernel& kernel, const Params& params, void* stream) {
  const CompiledKernel found = find(kernel);
  const auto blocks =
      static_cast<unsigned>(narrow_i32(std::int64_t{params.num_items} * params.heads_kv));
  found.function<<<blocks, kThreads, static_cast<std::size_t>(found.shared_bytes),
                   static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("splitkv");
}

}  // namespace attnbench::splitkv
