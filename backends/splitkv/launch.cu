// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/launch.h"

#include "backends/common/cuda/early_launch.cuh"
#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/splitkv/dispatch.cuh"
#include "lib/base/narrow.h"

namespace attnbench::splitkv {
namespace {

CompiledKernel find(const Kernel& kernel) {
  return cuda::for_types(kernel.dtype, kernel.kv_dtype,
                         [&]<class T, class Kv>() { return find_kernel<T, Kv>(kernel); });
}

}  // namespace

bool has_kernel(const Kernel& kernel) { return find(kernel).exists(); }

void prepare(const Kernel& kernel) { find(kernel).prepare(); }

void launch(const Kernel& kernel, const Params& params, void* stream) {
  const std::int32_t blocks = narrow_i32(std::int64_t{params.num_items} * params.heads_kv);
  const CompiledKernel found = find(kernel);
  if (params.list_lengths != nullptr && cuda::waits_for_previous(found)) {
    cuda::launch_early(found, "splitkv", static_cast<unsigned>(blocks), stream, params);
  } else {
    found.launch("splitkv", static_cast<unsigned>(blocks), stream, params);
  }
}

}  // namespace attnbench::splitkv
