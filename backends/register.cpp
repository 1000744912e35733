// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <memory>
#include <utility>

#include "backends/common/joined_queries.h"
#include "backends/common/kv_write.h"
#include "backends/common/merge_states.h"
#include "backends/common/padded_heads.h"
#include "backends/common/ragged_paged.h"
#include "backends/common/row_copies.h"
#include "backends/common/two_stage.h"
#include "backends/common/virtual_batches.h"
#include "backends/cpu_flash/cpu_flash.h"
#include "backends/cpu_flash/plan.h"
#include "backends/gated_delta_net/gated_delta_net.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

/// With queries that come apart, and steps that begin with the write of their keys and values.
std::unique_ptr<Backend> complete(std::unique_ptr<Backend> attention) {
  return with_kv_write(with_joined_queries(std::move(attention), copy_rows_on_cpu),
                       plan_kv_write_on_cpu);
}

}  // namespace

void register_builtin_backends(Registry& registry) {
  registry.add([] { return complete(std::make_unique<torch_native::TorchNativeBackend>()); });
  registry.add([] { return complete(std::make_unique<cpu_flash::CpuFlashBackend>()); });
  for (const std::int64_t keys : cpu_flash::kTriedSplitKeys) {
    registry.add([keys] { return complete(std::make_unique<cpu_flash::CpuFlashBackend>(keys)); });
  }
  const auto kernels = [] { return std::make_unique<cpu_flash::CpuFlashBackend>(); };
  registry.add([=] { return complete(with_padded_heads(kernels(), copy_rows_on_cpu)); });
  registry.add([=] {
    return with_kv_write(with_two_stages(kernels(), merge_states_on_cpu), plan_kv_write_on_cpu);
  });
  registry.add([=] {
    return with_kv_write(with_ragged_keys(kernels(), merge_states_on_cpu), plan_kv_write_on_cpu);
  });
  registry.add(
      [=] { return with_kv_write(with_virtual_batches(kernels()), plan_kv_write_on_cpu); });
  registry.add([] { return std::make_unique<gated_delta_net::GatedDeltaNetBackend>(); });
  register_cuda_backends(registry);
}

}  // namespace attnbench
