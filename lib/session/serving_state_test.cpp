// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/testing/changed_processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "backends/torch_native/torch_native.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/case_on_device.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using Memory = std::vector<std::span<const std::byte>>;

/// How many of the `bytes` bytes at `from` are in `memory`.
std::size_t covered(const Memory& memory, const void* from, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(from);
  return static_cast<std::size_t>(std::count_if(first, first + bytes, [&](const std::byte& byte) {
    return std::ranges::any_of(memory, [&](const auto& part) {
      return std::less_equal<>()(part.data(), &byte) &&
             std::less<>()(&byte, part.data() + part.size());
    });
  }));
}

/// A processor that keeps what is done to its cache.
class Watched final : public ChangedProcessor {
 public:
  void flush_cache(Stream&) override {
    touched.clear();
    ++flushes;
  }
  void touch(Stream&, std::span<const std::span<const std::byte>> parts) override {
    touched.insert(touched.end(), parts.begin(), parts.end());
  }

  Memory touched;  ///< since the last flush
  int flushes = 0;
};

/// Takes one sample of torch_native in that state; returns what was touched after the last flush.
Memory touched_before_a_sample(CacheState cache, const Case& c) {
  Devices devices;
  devices.push_back(std::make_unique<Watched>());
  auto& device = static_cast<Watched&>(*devices.front());
  Registry registry;
  registry.add([] { return std::make_unique<torch_native::TorchNativeBackend>(); });
  LocalExecutor executor(devices);
  const auto session = executor.begin(c, registry.entries().front(), 1);
  EXPECT_TRUE(static_cast<bool>(session->supports()));
  static_cast<void>(session->fill_for_timing());
  static_cast<void>(session->plan());
  const auto samples = session->samples(cache, LaunchMode::kEager);
  const SampleSource::Stop never = [] { return false; };
  WarmUp first;
  samples->warm_up(first, 0, 60, never);
  SampleBlock block;
  samples->take(block, 1, 60, never);
  EXPECT_EQ(device.flushes, cache == CacheState::kWarm ? 0 : 2) << "one estimate, one sample";
  return device.touched;
}

TEST(ServingState, is_touched_before_a_serving_sample_only) {
  const Case c = small_plain_decode();
  EXPECT_TRUE(touched_before_a_sample(CacheState::kCold, c).empty());
  EXPECT_TRUE(touched_before_a_sample(CacheState::kWarm, c).empty());
  EXPECT_FALSE(touched_before_a_sample(CacheState::kServing, c).empty());
}

TEST(ServingState, is_queries_indices_and_workspace_but_no_keys_and_values) {
  const auto device = make_cpu_device(1);
  const Case c = small_plain_decode();
  Fixture fixture(c, *device);
  PlanMemory workspace(*device);
  std::byte* const reserved = workspace.reserve(1000);
  const Memory memory = serving_state(fixture, workspace);

  const AttentionTensors io = fixture.tensors();
  const auto q_bytes = static_cast<std::size_t>(io.q.size() * size_bytes(io.q.dtype));
  EXPECT_EQ(covered(memory, io.q.data, q_bytes), q_bytes);
  EXPECT_EQ(memory.back().data(), io.q.data) << "the queries are the last that was written";
  EXPECT_EQ(covered(memory, reserved, 1000), 1000u);
  const ForwardBatch& batch = fixture.batch();
  EXPECT_EQ(covered(memory, batch.seq_lens.data(), 4 * batch.seq_lens.size()),
            4 * batch.seq_lens.size());
  const auto row = batch.req_to_token_pool->row(batch.req_pool_indices[0]);
  const auto used = 4 * static_cast<std::size_t>(batch.kv_len(0));
  EXPECT_EQ(covered(memory, row.data(), used), used);

  const KvPool& pool = fixture.kv_pool();
  const auto pool_bytes =
      static_cast<std::size_t>(c.kv_cache.page_size * pool.num_pages * c.layer.heads_kv *
                               c.layer.head_dim_qk * size_bytes(c.kv_cache.dtype));
  EXPECT_EQ(covered(memory, pool.k, pool_bytes), 0u);
  EXPECT_EQ(covered(memory, pool.v, pool_bytes), 0u);
}

TEST(ServingState, of_a_backend_without_workspace_has_an_empty_part_for_it) {
  const auto device = make_cpu_device(1);
  const Case c = small_plain_decode();
  const Fixture fixture(c, *device);
  const PlanMemory workspace(*device);
  EXPECT_TRUE(serving_state(fixture, workspace).front().empty());
}

}  // namespace
}  // namespace attnbench
