// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "backends/cascade/cascade.h"
#include "backends/common/joined_queries.h"
#include "backends/common/kv_write.h"
#include "backends/common/merge_states.h"
#include "backends/common/padded_heads.h"
#include "backends/common/ragged_paged.h"
#include "backends/common/row_copies.h"
#include "backends/common/two_stage.h"
#include "backends/common/virtual_batches.h"
#include "backends/common/wide_queries.h"
#include "backends/cudnn/cudnn.h"
#include "backends/cudnn/info.h"
#include "backends/gated_delta_net/gpu_backend.h"
#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/register.h"
#include "backends/splitkv/splitkv.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

/// A backend of this build: it runs, or the machine says why it cannot.
template <class Kind, class... Arguments>
void add(Registry& registry, const std::string& absence, Arguments... arguments) {
  if (absence.empty()) {
    registry.add([arguments...] { return std::make_unique<Kind>(arguments...); });
  } else {
    registry.add_absent(Kind(arguments...).info(), absence);
  }
}

/// The same of one that takes queries in fp8 and queries that come apart too, and whose step may
/// begin with the write of its keys and values.
template <class Kind, class... Arguments>
void add_writing(Registry& registry, const std::string& absence, Arguments... arguments) {
  if (absence.empty()) {
    registry.add([arguments...] {
      auto kernels = with_wide_queries(std::make_unique<Kind>(arguments...), widen_queries_on_gpu);
      return with_kv_write(with_joined_queries(std::move(kernels), copy_rows_on_gpu),
                           plan_kv_write_on_gpu);
    });
  } else {
    const BackendInfo info = with_wide_queries(Kind(arguments...).info());
    registry.add_absent(with_kv_write(with_joined_queries(info)), absence);
  }
}

/// Which takes queries in fp8, and writes none of its keys.
void add_cascade(Registry& registry, const std::string& absence) {
  if (absence.empty()) {
    registry.add([] {
      return with_wide_queries(std::make_unique<cascade::CascadeBackend>(), widen_queries_on_gpu);
    });
  } else {
    registry.add_absent(with_wide_queries(cascade::CascadeBackend().info()), absence);
  }
}

/// cuDNN can be missing where a GPU is not: its headers in the build, its library on the machine.
void add_cudnn(Registry& registry, std::string absence) {
#ifdef ATTNBENCH_HAVE_CUDNN
  if (absence.empty()) absence = cudnn::absence();
  if (absence.empty()) {
    add_writing<cudnn::CudnnBackend>(registry, absence);
    return;
  }
#else
  if (absence.empty()) absence = ATTNBENCH_CUDNN_ABSENCE;
#endif
  registry.add_absent(with_kv_write(with_joined_queries(with_wide_queries(cudnn::info()))),
                      absence);
}

}  // namespace

void register_cuda_backends(Registry& registry) {
  const std::string absence = cuda_absence();
  for (const auto rule : splitkv::kSplitRules)
    add_writing<splitkv::SplitKvBackend>(registry, absence, rule);
  add_writing<paged_fa::PagedFaBackend>(registry, absence);
  add_writing<TwoStage<paged_fa::PagedFaBackend, merge_states_on_gpu>>(registry, absence);
  add_writing<RaggedPaged<paged_fa::PagedFaBackend, merge_states_on_gpu>>(registry, absence);
  add_writing<VirtualBatches<paged_fa::PagedFaBackend>>(registry, absence);
  add_writing<mla::MlaBackend>(registry, absence);
  add_writing<PaddedHeads<mla::MlaBackend, copy_rows_on_gpu>>(registry, absence);
  add_cascade(registry, absence);
  add<gated_delta_net::GpuBackend>(registry, absence);
  add_cudnn(registry, absence);
}

}  // namespace attnbench
