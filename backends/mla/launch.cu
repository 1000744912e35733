// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/common/cuda/early_launch.cuh"
#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/mla/dispatch.cuh"
#include "backends/mla/latent_rows.cuh"

namespace attnbench::mla {
namespace {

/// Blocks of 128 threads and 63 registers that 132 multiprocessors (H200) hold at once. A graph's
/// merge has blocks for all that may be split; more blocks than these that return at once take
/// several waves, 8 us of 137 for 64 requests of 4k keys and 128 heads.
constexpr std::int64_t kMergeBlocks = 8 * 132;

/// Nothing if it is empty because this build is for other architectures: asked of one kernel, once,
/// because a launch comes here.
CompiledKernel if_for_sm_90a(const CompiledKernel& found) {
  if (!found.exists()) return {};
  static const bool usable = found.is_for_sm_90a();
  return usable ? found : CompiledKernel{};
}

CompiledKernel find_few_fp8(const Kernel& kernel) {
  return cuda::for_types(kernel.dtype, kernel.kv_dtype, [&]<class T, class Kv>() -> CompiledKernel {
    if constexpr (sizeof(Kv) == 1) return find_fp8_kernel<T, Kv>();
    return {};
  });
}

/// One block per multiprocessor. Rows with scales inside have bf16 in their rope columns, as have
/// then the activations.
CompiledKernel find_with_parts(const Kernel& kernel) {
  const bool few = kernel.tile == TileKind::kFewFp8;
  if (kernel.scaled_blocks) {
    if (kernel.dtype != DType::kBF16) return {};
    return few ? find_fp8_kernel<__nv_bfloat16, ScaledBlocks>()
               : find_warpgroup_kernel<__nv_bfloat16, ScaledBlocks>(kernel);
  }
  if (few) return find_few_fp8(kernel);
  return cuda::for_types(kernel.dtype, kernel.kv_dtype,
                         [&]<class T, class Kv>() { return find_warpgroup_kernel<T, Kv>(kernel); });
}

CompiledKernel find(const Kernel& kernel) {
  if (has_parts(kernel.tile)) return if_for_sm_90a(find_with_parts(kernel));
  if (kernel.scaled_blocks) return {};
  return cuda::for_types(kernel.dtype, kernel.kv_dtype,
                         [&]<class T, class Kv>() { return find_kernel<T, Kv>(kernel); });
}

}  // namespace

bool has_kernel(const Kernel& kernel) { return find(kernel).exists(); }

void prepare(const Kernel& kernel) { find(kernel).prepare(); }

void launch(const Kernel& kernel, const Params& params, void* stream) {
  const auto count = [](std::int64_t blocks) { return static_cast<unsigned>(blocks); };
  const unsigned blocks_of_all =
      count(has_parts(kernel.tile) ? std::int64_t{params.parts} * params.lanes : params.num_items);
  const CompiledKernel found = find(kernel);
  if (params.list_lengths != nullptr && cuda::waits_for_previous(found)) {
    cuda::launch_early(found, "mla", blocks_of_all, stream, params);
  } else {
    found.launch("mla", blocks_of_all, stream, params);
  }
  if (params.num_merges == 0) return;
  const MergeKernel merge =
      merge_kernel_for(kernel.dtype, std::int64_t{params.num_merges} * params.partial_rows);
  std::int64_t rows = params.partial_rows;
  if (params.most_merges && merge.takes_rows_in_turn) {
    rows = std::clamp<std::int64_t>(kMergeBlocks / params.num_merges, 1, rows);
  }
  const dim3 blocks(count(params.num_merges), count(rows), count(merge.blocks_per_row));
  // Not in a graph: its short steps lost 1.3 us where the merge may start at once (H200).
  if (has_parts(kernel.tile) && !params.most_merges) {
    cuda::launch_early(merge.kernel, "mla merge", blocks, stream, params);
  } else {
    merge.kernel.launch("mla merge", blocks, stream, params);
  }
}

}  // namespace attnbench::mla
