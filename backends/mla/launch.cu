// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/mla/dispatch.cuh"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::mla {
namespace {

CompiledKernel find_warpgroups(const Kernel& kernel) {
  if (kernel.kv_dtype != kernel.dtype) return {};
  if (kernel.dtype != DType::kBF16 && (!kAllKernels || kernel.dtype != DType::kF16)) return {};
  const CompiledKernel found = warpgroup_kernel(kernel.dtype);
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, found.function), "cudaFuncGetAttributes");
  // Compiled for any other architecture, the kernel has an empty body, which needs few registers.
  const bool usable = attributes.binaryVersion == 90 && attributes.numRegs > 100;
  return usable ? found : CompiledKernel{};
}

CompiledKernel find(const Kernel& kernel) {
  if (kernel.tile == TileKind::kWarpgroups) return find_warpgroups(kernel);
  if (kernel.kv_dtype != kernel.dtype && size_bytes(kernel.kv_dtype) != 1) return {};
  if (kernel.dtype == DType::kBF16) return bf16_kernel(kernel);
  if constexpr (kAllKernels) {
    if (kernel.dtype == DType::kF16) return f16_kernel(kernel);
  }
  return {};
}

void launch(const CompiledKernel& kernel, dim3 blocks, const Params& params, void* stream) {
  kernel.function<<<blocks, static_cast<unsigned>(kernel.threads),
                    static_cast<std::size_t>(kernel.shared_bytes),
                    static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("mla");
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
  const auto count = [](std::int64_t blocks) { return static_cast<unsigned>(blocks); };
  if (kernel.tile == TileKind::kWarpgroups) {
    const std::int64_t blocks = std::int64_t{params.parts} * params.lanes;
    launch(warpgroup_kernel(kernel.dtype), dim3(count(blocks)), params, stream);
  } else {
    launch(find(kernel), dim3(count(params.num_items)), params, stream);
  }
  if (params.num_merges == 0) return;
  const MergeKernel merge =
      merge_kernel_for(kernel.dtype, std::int64_t{params.num_merges} * params.partial_rows);
  launch(merge.kernel,
         dim3(count(params.num_merges), count(params.partial_rows), count(merge.blocks_per_row)),
         params, stream);
}

}  // namespace attnbench::mla
