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

/// What `make` returns takes queries in fp8 and queries that come apart too, and its step may begin
/// with the write of its keys and values. It is absent where the machine says why it cannot run.
template <class Make>
void add_writing(Registry& registry, const std::string& absence, Make make) {
  if (absence.empty()) {
    registry.add([make] {
      auto kernels = with_wide_queries(make(), widen_queries_on_gpu);
      return with_kv_write(with_joined_queries(std::move(kernels), copy_rows_on_gpu),
                           plan_kv_write_on_gpu);
    });
  } else {
    const BackendInfo info = with_wide_queries(make()->info());
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

void add_gated_delta_net(Registry& registry, const std::string& absence) {
  if (absence.empty()) {
    registry.add([] { return std::make_unique<gated_delta_net::GpuBackend>(); });
  } else {
    registry.add_absent(gated_delta_net::GpuBackend().info(), absence);
  }
}

/// cuDNN can be missing where a GPU is not: its headers in the build, its library on the machine.
void add_cudnn(Registry& registry, std::string absence) {
#ifdef ATTNBENCH_HAVE_CUDNN
  if (absence.empty()) absence = cudnn::absence();
  if (absence.empty()) {
    add_writing(registry, absence, [] { return std::make_unique<cudnn::CudnnBackend>(); });
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
  const auto make_paged_fa = [] { return std::make_unique<paged_fa::PagedFaBackend>(); };
  const auto make_mla = [] { return std::make_unique<mla::MlaBackend>(); };
  for (const auto rule : splitkv::kSplitRules) {
    add_writing(registry, absence,
                [rule] { return std::make_unique<splitkv::SplitKvBackend>(rule); });
  }
  add_writing(registry, absence, make_paged_fa);
  add_writing(registry, absence,
              [=] { return with_two_stages(make_paged_fa(), merge_states_on_gpu); });
  add_writing(registry, absence,
              [=] { return with_ragged_keys(make_paged_fa(), merge_states_on_gpu); });
  add_writing(registry, absence, [=] { return with_virtual_batches(make_paged_fa()); });
  add_writing(registry, absence, make_mla);
  add_writing(registry, absence, [=] { return with_padded_heads(make_mla(), copy_rows_on_gpu); });
  add_cascade(registry, absence);
  add_gated_delta_net(registry, absence);
  add_cudnn(registry, absence);
}

}  // namespace attnbench
