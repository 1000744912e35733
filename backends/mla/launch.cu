// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/dispatch.cuh"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

mla::CompiledKernel find(const MlaKernel& kernel) {
  if (kernel.kv_dtype != kernel.dtype && size_bytes(kernel.kv_dtype) != 1) return {};
  if (kernel.dtype == DType::kBF16) return mla::bf16_kernel(kernel);
  if (kernel.dtype == DType::kF16) return mla::f16_kernel(kernel);
  return {};
}

}  // namespace

bool mla_has_kernel(const MlaKernel& kernel) { return find(kernel).function != nullptr; }

void prepare_mla(const MlaKernel& kernel) {
  const mla::CompiledKernel found = find(kernel);
  expects(found.function != nullptr, "no kernel for what supports() accepted");
  check_cuda(cudaFuncSetAttribute(found.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  found.shared_bytes),
             "cudaFuncSetAttribute");
}

void launch_mla(const MlaKernel& kernel, const MlaParams& params, void* stream) {
  const mla::CompiledKernel found = find(kernel);
  found.function<<<static_cast<unsigned>(params.num_items), static_cast<unsigned>(found.threads),
                   static_cast<std::size_t>(found.shared_bytes),
                   static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("mla");
}

}  // namespace attnbench
