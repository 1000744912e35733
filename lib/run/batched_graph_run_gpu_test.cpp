// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// A batched graph whose inputs take turns reads memory, one that stays on its inputs reads
// the cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "lib/device/cuda/cuda_device.h"
#include "lib/run/driver.h"
#include "lib/run/testing/pool_reader.h"
#include "lib/scenario/scenario.h"
#include "lib/session/batched_graph.h"
#include "lib/session/case_on_device.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

class BatchedGraphRunGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    registry_.add([] { return std::make_unique<PoolReader>(); });
    devices_ = open_devices(std::vector<const Registry::Entry*>{&registry_.entries().front()}, {});
  }
  [[nodiscard]] Device& gpu() const { return *devices_.back(); }

  Registry registry_;
  Devices devices_;
};

TEST_F(BatchedGraphRunGpu, of_plain_reads_is_as_slow_as_memory_when_they_rotate) {
  constexpr std::int64_t kBytes = std::int64_t{16} << 20;
  const std::int64_t cache_bytes = gpu().info().last_level_cache_bytes;
  const BatchedGraph graph = batched_graph_for(Case(), CacheState::kCold, kBytes, cache_bytes);
  const auto memory = gpu().allocate(static_cast<std::size_t>(graph.sets * kBytes), "reads");
  const auto read = [&](std::int64_t set) {
    return [this, from = std::span<const std::byte>(memory->data(), memory->size())
                             .subspan(static_cast<std::size_t>(set * kBytes),
                                      static_cast<std::size_t>(kBytes))](Stream& stream) {
      gpu().touch(stream, {&from, 1});
    };
  };
  const auto cell = [&](std::int64_t sets, std::int64_t forwards) {
    TimedCell timed{"read", CacheState::kCold, {}, LaunchMode::kGraph};
    timed.repeats = forwards;
    timed.forward = [=](Stream& stream) {
      for (std::int64_t i = 0; i < forwards; ++i) read(i % sets)(stream);
    };
    return timed;
  };
  const std::vector<TimedCell> cells{cell(1, 1), cell(1, graph.forwards),
                                     cell(graph.sets, graph.forwards)};
  const auto timings = measure_cells(cells, gpu(), {}, 1, {});
  const double once = timings[0].median_us, same = timings[1].median_us,
               rotated = timings[2].median_us;
  std::cout << "16 MiB read: once " << once << " us, x " << graph.forwards << " the same " << same
            << ", rotated " << rotated << '\n';
  EXPECT_LT(same, 0.8 * rotated) << "the cache serves what is read again";
  EXPECT_GT(rotated, 0.8 * once) << "memory serves what rotates";
  EXPECT_LT(rotated, 1.1 * once);
  const Ceilings ceilings = measure_ceilings(gpu());
  EXPECT_FALSE(exceeds(kBytes, ceilings.read_bytes_per_s, rotated / 1e6));
}

TEST_F(BatchedGraphRunGpu, of_a_backend_stays_cold_while_it_rotates) {
  // 8 MB, and 0.5 MB in some hundred sets.
  const Scenario scenario = parse_scenario(R"(
seed: 5
defaults:
  model: {heads_q: 8, heads_kv: 2, head_dim: 128}
  kv_cache: {page_size: 16, placement: shuffled}
mixes:
  some: {batch: 8q1s1k}
  many: {batch: [{count: 1, mode: decode, kv_len: 512}]}
measure: {cache: [cold, warm], launch: [graph]}
verify: {enabled: false}
)",
                                           "short.yaml");
  const auto begin = std::chrono::steady_clock::now();
  LocalExecutor executor(devices_);
  const RunResult result = run_scenario(scenario, plan_run(scenario, registry_, {}), executor, {});
  std::cout << "in "
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()
            << " s\n";
  ASSERT_EQ(result.records.size(), 4u);
  for (std::size_t i = 0; i < 4; i += 2) {
    const Record &cold = result.records[i], &warm = result.records[i + 1];
    SCOPED_TRACE(cold.case_id);
    ASSERT_TRUE(cold.is_short) << cold.timing.median_us;
    ASSERT_TRUE(cold.graph_n.timed()) << cold.graph_n.reason;
    ASSERT_TRUE(warm.graph_n.timed()) << warm.graph_n.reason;
    const double rotated = cold.graph_n.timing.median_us, same = warm.graph_n.timing.median_us;
    std::cout << cold.case_id << ": cold " << cold.timing.median_us << " us, x "
              << cold.graph_n.graph.forwards << " over " << cold.graph_n.graph.sets << " sets "
              << rotated << " us; warm " << warm.timing.median_us << " us, x "
              << warm.graph_n.graph.forwards << ' ' << same << " us\n";
    EXPECT_LT(same, 0.9 * rotated);
    EXPECT_GT(rotated, 0.6 * cold.timing.median_us) << "what remains when launches overlap";
    EXPECT_LT(rotated, 1.05 * cold.timing.median_us);
  }
}

TEST_F(BatchedGraphRunGpu, makes_a_set_in_milliseconds) {
  const Scenario scenario = parse_scenario(
      "seed: 5\ndefaults: {model: {heads_q: 8, heads_kv: 2, head_dim: 128}}\n"
      "mixes: {some: {batch: 8q1s1k}}\n",
      "sets.yaml");
  CaseOnDevice on_device(scenario.cases[0], gpu(), KvLayout::kNhd, 1);
  static_cast<void>(on_device.fill_for_timing());
  const auto begin = std::chrono::steady_clock::now();
  static_cast<void>(on_device.input_set(100));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << seconds * 10 << " ms a set\n";
  EXPECT_LT(seconds / 100, 0.010);
}

}  // namespace
}  // namespace attnbench
