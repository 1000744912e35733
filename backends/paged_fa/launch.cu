// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/launch.h"

#include <algorithm>

#include "backends/common/kernels_in_build.h"
#include "backends/paged_fa/dispatch.cuh"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::paged_fa {
namespace {

CompiledKernel find(const Kernel& kernel) {
  const DType kv = kernel.kv_dtype;
  const bool many_rows = kernel.tile == TileKind::kMany;
  if (kernel.dtype == DType::kBF16) {
    if (kv == DType::kBF16) {
      return many_rows ? bf16_many_rows_kernel(kernel) : bf16_kernel(kernel);
    }
    if (kv == DType::kE4M3) return bf16_e4m3_kernel(kernel);
  }
  if constexpr (kAllKernels) {
    if (kernel.dtype == DType::kBF16 && kv == DType::kE5M2) {
      return bf16_e5m2_kernel(kernel);
    }
    if (kernel.dtype == DType::kF16) {
      if (kv == DType::kF16) {
        return many_rows ? f16_many_rows_kernel(kernel) : f16_kernel(kernel);
      }
      if (kv == DType::kE4M3) return f16_e4m3_kernel(kernel);
      if (kv == DType::kE5M2) return f16_e5m2_kernel(kernel);
    }
  }
  return {};
}

/// The kernel for tiles of 128 rows with wgmma, where this GPU and this build have it.
HopperKernel find_hopper(const Kernel& kernel) {
  if (kernel.tile != TileKind::kMany || kernel.kv_dtype != kernel.dtype) return {};
  const HopperKernel found = hopper_kernel(kernel);
  if (found.function == nullptr) return {};
  static const bool usable = [&] {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, found.function), "cudaFuncGetAttributes");
    // Compiled for any other architecture, the kernel has an empty body, which needs few registers.
    return attributes.binaryVersion == 90 && attributes.numRegs > 100;
  }();
  return usable ? found : HopperKernel{};
}

int multiprocessors() {
  int device = 0, count = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  return count;
}

template <class AnyKernel>
void allow_shared_memory(const AnyKernel& kernel) {
  check_cuda(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kernel.shared_bytes),
             "cudaFuncSetAttribute");
}

}  // namespace

bool has_kernel(const Kernel& kernel) { return find(kernel).function != nullptr; }

void prepare(const Kernel& kernel) {
  const CompiledKernel found = find(kernel);
  expects(found.function != nullptr, "no kernel for what supports() accepted");
  allow_shared_memory(found);
  const HopperKernel hopper = find_hopper(kernel);
  if (hopper.function != nullptr) allow_shared_memory(hopper);
}

void launch(const Kernel& kernel, const Params& p, void* stream) {
  const int items = p.num_items * p.heads_kv;
  const auto on = static_cast<cudaStream_t>(stream);
  const HopperKernel hopper = find_hopper(kernel);
  if (hopper.function != nullptr && p.custom_mask == nullptr) {
    const auto blocks = static_cast<unsigned>(std::min(items, multiprocessors()));
    hopper.function<<<blocks, static_cast<unsigned>(hopper.threads),
                      static_cast<std::size_t>(hopper.shared_bytes), on>>>(p, map_pages(p));
  } else {
    const CompiledKernel found = find(kernel);
    found.function<<<static_cast<unsigned>(items), static_cast<unsigned>(found.threads),
                     static_cast<std::size_t>(found.shared_bytes), on>>>(p);
  }
  check_launch("paged_fa");
}

}  // namespace attnbench::paged_fa
