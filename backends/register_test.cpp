// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <gmock/gmock.h>

#include "backends/cascade/info.h"
#include "backends/common/padded_heads.h"
#include "backends/common/ragged_paged.h"
#include "backends/common/two_stage.h"
#include "backends/common/virtual_batches.h"
#include "backends/cudnn/info.h"
#include "backends/gated_delta_net/gpu_info.h"
#include "backends/mla/info.h"
#include "backends/paged_fa/info.h"
#include "backends/splitkv/info.h"

namespace attnbench {
namespace {

TEST(RegisterBuiltinBackends, lists_what_runs_and_what_is_absent_with_its_reason) {
  Registry registry;
  register_builtin_backends(registry);
  EXPECT_THAT(
      registry.names(),
      testing::ElementsAre(
          "torch_native", "cpu_flash", "cpu_flash:split_keys=128", "cpu_flash:split_keys=256",
          "cpu_flash:split_keys=512", "cpu_flash:split_keys=1024", "cpu_flash:split_keys=2048",
          "cpu_flash:padded_heads", "cpu_flash:two_stage", "cpu_flash:ragged_paged",
          "cpu_flash:virtual_batches", "gated_delta_net", "splitkv", "splitkv:dynamic",
          "splitkv:fixed_tile", "splitkv:splits=1", "splitkv:splits=2", "splitkv:splits=4",
          "splitkv:splits=8", "splitkv:splits=16", "splitkv:splits=32", "splitkv:splits=64",
          "splitkv:tile=128", "splitkv:tile=512", "splitkv:tile=1024", "splitkv:tile=2048",
          "paged_fa", "paged_fa:two_stage", "paged_fa:ragged_paged", "paged_fa:virtual_batches",
          "mla", "mla:padded_heads", "cascade", "gated_delta_net_cuda", "cudnn"));
  for (const Registry::Entry& entry : registry.entries()) {
    EXPECT_EQ(entry.make == nullptr, !entry.absence.empty()) << entry.info.name;
    const bool variant = entry.info.name.find(':') != std::string::npos;
    EXPECT_EQ(entry.info.by_default, !variant) << entry.info.name;
    if (!entry.make) continue;
    EXPECT_EQ(entry.make()->info().name, entry.info.name);
  }
}

TEST(RegisterBuiltinBackends, says_the_same_of_gpu_backends_with_and_without_nvcc) {
  Registry registry;
  register_builtin_backends(registry);
  std::vector<BackendInfo> infos{paged_fa::info(),
                                 with_virtual_batches(paged_fa::info()),
                                 with_two_stages(paged_fa::info()),
                                 with_ragged_keys(paged_fa::info()),
                                 mla::info(),
                                 with_padded_heads(mla::info()),
                                 cascade::info(),
                                 cudnn::info(),
                                 gated_delta_net::gpu_info()};
  for (const auto rule : splitkv::kSplitRules) infos.push_back(splitkv::info(rule));
  for (const BackendInfo& info : infos) {
    const Registry::Entry* entry = registry.find(info.name);
    ASSERT_NE(entry, nullptr) << info.name;
    EXPECT_EQ(entry->info.version, info.version) << info.name;
    EXPECT_EQ(entry->info.description, info.description) << info.name;
    EXPECT_EQ(entry->info.index_format, info.index_format) << info.name;
    EXPECT_EQ(entry->info.device, info.device) << info.name;
    EXPECT_EQ(entry->info.cuda_graph, info.cuda_graph) << info.name;
    EXPECT_EQ(entry->info.by_default, info.by_default) << info.name;
  }
}

}  // namespace
}  // namespace attnbench
