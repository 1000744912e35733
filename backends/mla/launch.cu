// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/mla/dispatch.cuh"

namespace attnbench::mla {
namespace {

CompiledKernel find_warpgroups(const Kernel& kernel) {
  if (kernel.kv_dtype != kernel.dtype) return {};
  if (kernel.dtype != DType::kBF16 && (!kAllKernels || kernel.dtype != DType::kF16)) return {};
  const CompiledKernel found = warpgroup_kernel(kernel.dtype);
  return found.is_for_sm_90a() ? found : CompiledKernel{};
}

CompiledKernel find(const Kernel& kernel) {
  if (kernel.tile == TileKind::kWarpgroups) return find_warpgroups(kernel);
  return cuda::for_types(kernel.dtype, kernel.kv_dtype,
                         [&]<class T, class Kv>() { return find_kernel<T, Kv>(kernel); });
}

}  // namespace

bool has_kernel(const Kernel& kernel) { return find(kernel).exists(); }

void prepare(const Kernel& kernel) { find(kernel).prepare(); }

void launch(const Kernel& kernel, const Params& params, void* stream) {
  const auto count = [](std::int64_t blocks) { return static_cast<unsigned>(blocks); };
  if (kernel.tile == TileKind::kWarpgroups) {
    const std::int64_t blocks = std::int64_t{params.parts} * params.lanes;
    warpgroup_kernel(kernel.dtype).launch("mla", count(blocks), stream, params);
  } else {
    find(kernel).launch("mla", count(params.num_items), stream, params);
  }
  if (params.num_merges == 0) return;
  const MergeKernel merge =
      merge_kernel_for(kernel.dtype, std::int64_t{params.num_merges} * params.partial_rows);
  const dim3 blocks(count(params.num_merges), count(params.partial_rows),
                    count(merge.blocks_per_row));
  merge.kernel.launch("mla merge", blocks, stream, params);
}

}  // namespace attnbench::mla
