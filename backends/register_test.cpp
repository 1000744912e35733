// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <gmock/gmock.h>

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
          "cpu_flash:virtual_batches", "gated_delta_net", "kimi_delta", "lightning", "mamba2",
          "index_builder", "topk", "indexer", "index_writer", "compressor", "splitkv",
          "splitkv:dynamic", "splitkv:fixed_tile", "splitkv:splits=1", "splitkv:splits=2",
          "splitkv:splits=4", "splitkv:splits=8", "splitkv:splits=16", "splitkv:splits=32",
          "splitkv:splits=64", "splitkv:tile=128", "splitkv:tile=512", "splitkv:tile=1024",
          "splitkv:tile=2048", "paged_fa", "paged_fa:two_stage", "paged_fa:ragged_paged",
          "paged_fa:virtual_batches", "mla", "mla:padded_heads", "cascade", "gated_delta_net_cuda",
          "kimi_delta_cuda", "lightning_cuda", "mamba2_cuda", "index_builder_cuda", "topk_cuda",
          "indexer_cuda", "index_writer_cuda", "compressor_cuda", "cudnn"));
  for (const Registry::Entry& entry : registry.entries()) {
    EXPECT_EQ(entry.make == nullptr, !entry.absence.empty()) << entry.info.name;
    const bool variant = entry.info.name.find(':') != std::string::npos;
    EXPECT_EQ(entry.info.by_default, !variant) << entry.info.name;
    if (!entry.make) continue;
    EXPECT_EQ(entry.make()->info().name, entry.info.name);
  }
}

TEST(RegisterBuiltinBackends, says_what_wrappers_add_also_where_kernels_are_absent) {
  Registry registry;
  register_builtin_backends(registry);
  for (const char* name : {"splitkv", "paged_fa:two_stage", "mla:padded_heads", "cudnn"}) {
    const BackendInfo& info = registry.find(name)->info;
    EXPECT_TRUE(info.writes_kv && info.reads_fp8_queries && info.reads_queries_apart) << name;
  }
  const BackendInfo& cascade = registry.find("cascade")->info;
  EXPECT_TRUE(cascade.reads_fp8_queries && !cascade.writes_kv && !cascade.reads_queries_apart);
  EXPECT_EQ(registry.find("paged_fa")->info.cuda_graph, CudaGraphSupport::kUniformBatch);
  EXPECT_EQ(registry.find("paged_fa:ragged_paged")->info.cuda_graph, CudaGraphSupport::kNever);
}

}  // namespace
}  // namespace attnbench
