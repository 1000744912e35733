// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/launch.h"

#include <algorithm>
#include <type_traits>

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/paged_fa/dispatch.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::paged_fa {
namespace {

CompiledKernel find(const Kernel& kernel) {
  return cuda::for_types(kernel.dtype, kernel.kv_dtype, [&]<class T, class Kv>() -> CompiledKernel {
    if (kernel.spans) return find_span_kernel<T, Kv>(kernel);
    if (kernel.tile != TileKind::kMany) return find_kernel<T, Kv>(kernel);
    if constexpr (std::is_same_v<T, Kv>) return find_many_rows_kernel<T>(kernel);
    return {};
  });
}

/// The kernel for tiles of 128 rows with wgmma, where this GPU and this build have it.
HopperKernel find_hopper(const Kernel& kernel) {
  if (kernel.tile != TileKind::kMany || !kernel.plain) return {};
  const auto found =
      cuda::for_types(kernel.dtype, kernel.kv_dtype, [&]<class T, class Kv>() -> HopperKernel {
        if constexpr (std::is_same_v<T, Kv>) {
          if (kernel.spans) return find_hopper_kernel<T, true>(kernel);
          return find_hopper_kernel<T, false>(kernel);
        }
        return {};
      });
  if (!found.exists()) return {};
  static const bool usable = found.is_for_sm_90a();
  return usable ? found : HopperKernel{};
}

int multiprocessors() {
  int device = 0, count = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  return count;
}

}  // namespace

bool has_kernel(const Kernel& kernel) {
  return find(kernel).exists() || find_hopper(kernel).exists();
}

void prepare(const Kernel& kernel) {
  const HopperKernel hopper = find_hopper(kernel);
  if (hopper.exists()) {
    hopper.prepare();
  } else {
    find(kernel).prepare();
  }
}

void launch(const Kernel& kernel, const Params& p, void* stream) {
  const int items = p.num_items * p.heads_kv;
  const HopperKernel hopper = find_hopper(kernel);
  if (hopper.exists()) {
    const auto blocks = static_cast<unsigned>(std::min(items, multiprocessors()));
    const PageMaps maps = map_pages(p, kernel.head_dim_k, kernel.head_dim_v, hopper.box_rows);
    hopper.launch("paged_fa", blocks, stream, p, maps);
  } else {
    find(kernel).launch("paged_fa", static_cast<unsigned>(items), stream, p);
  }
}

}  // namespace attnbench::paged_fa
