// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/info.h"
#include "backends/common/joined_queries.h"
#include "backends/common/kv_write.h"
#include "backends/common/padded_heads.h"
#include "backends/common/ragged_paged.h"
#include "backends/common/two_stage.h"
#include "backends/common/virtual_batches.h"
#include "backends/common/wide_queries.h"
#include "backends/cudnn/info.h"
#include "backends/gated_delta_net/gpu_info.h"
#include "backends/mla/info.h"
#include "backends/paged_fa/info.h"
#include "backends/register.h"
#include "backends/splitkv/info.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {

void register_cuda_backends(Registry& registry) {
  const std::string absence = cuda_absence();
  for (const auto rule : splitkv::kSplitRules)
    registry.add_absent(with_kv_write(with_joined_queries(with_wide_queries(splitkv::info(rule)))),
                        absence);
  for (const BackendInfo& info :
       {paged_fa::info(), with_two_stages(paged_fa::info()), with_ragged_keys(paged_fa::info()),
        with_virtual_batches(paged_fa::info()), mla::info(), with_padded_heads(mla::info())}) {
    registry.add_absent(with_kv_write(with_joined_queries(with_wide_queries(info))), absence);
  }
  registry.add_absent(with_wide_queries(cascade::info()), absence);
  registry.add_absent(gated_delta_net::gpu_info(), absence);
  registry.add_absent(with_kv_write(with_joined_queries(with_wide_queries(cudnn::info()))),
                      absence);
}

}  // namespace attnbench
