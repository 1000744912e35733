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

mla::WarpgroupKernel find_warpgroups(const MlaKernel& kernel) {
  if (kernel.kv_dtype != kernel.dtype) return {};
  if (kernel.dtype != DType::kBF16 && kernel.dtype != DType::kF16) return {};
  const mla::WarpgroupKernel found = mla::warpgroup_kernel(kernel.dtype);
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, found.attend.function), "cudaFuncGetAttributes");
  // Built for anything but sm_90a its body is empty, and an empty body needs few registers.
  const bool usable = attributes.binaryVersion == 90 && attributes.numRegs > 100;
  return usable ? found : mla::WarpgroupKernel{};
}

void allow_shared_memory(const mla::CompiledKernel& kernel) {
  expects(kernel.function != nullptr, "no kernel for what supports() accepted");
  check_cuda(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kernel.shared_bytes),
             "cudaFuncSetAttribute");
}

void launch(const mla::CompiledKernel& kernel, dim3 blocks, const MlaParams& params, void* stream) {
  kernel.function<<<blocks, static_cast<unsigned>(kernel.threads),
                    static_cast<std::size_t>(kernel.shared_bytes),
                    static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("mla");
}

}  // namespace

bool mla_has_kernel(const MlaKernel& kernel) {
  if (kernel.tile == MlaTile::kWarpgroups) {
    return find_warpgroups(kernel).attend.function != nullptr;
  }
  return find(kernel).function != nullptr;
}

void prepare_mla(const MlaKernel& kernel) {
  allow_shared_memory(kernel.tile == MlaTile::kWarpgroups
                          ? mla::warpgroup_kernel(kernel.dtype).attend
                          : find(kernel));
}

void launch_mla(const MlaKernel& kernel, const MlaParams& params, void* stream) {
  if (kernel.tile != MlaTile::kWarpgroups) {
    launch(find(kernel), dim3(static_cast<unsigned>(params.num_items)), params, stream);
    return;
  }
  const mla::WarpgroupKernel found = mla::warpgroup_kernel(kernel.dtype);
  launch(found.attend, dim3(static_cast<unsigned>(params.parts * params.lanes)), params, stream);
  if (params.num_merges > 0) {
    launch(
        found.merge,
        dim3(static_cast<unsigned>(params.num_merges), static_cast<unsigned>(params.partial_rows)),
        params, stream);
  }
}

}  // namespace attnbench
