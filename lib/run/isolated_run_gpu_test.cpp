// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// This program is its own worker: main() is at the end.
#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "backends/register.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/isolate/isolated_executor.h"
#include "lib/isolate/worker.h"
#include "lib/run/driver.h"
#include "lib/run/testing/planted_backend.h"
#include "lib/run/testing/pool_reader.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Queries of an address that nobody owns: the kernel ends with an error that no later call of the
/// process is spared.
void read_nowhere(AttentionTensors& io) { io.q.data += std::ptrdiff_t{1} << 46; }

Registry planted_registry() {
  Registry registry;
  register_builtin_backends(registry);
  const Registry::Entry* const splitkv = registry.find("splitkv");
  if (splitkv != nullptr && splitkv->make) {
    const auto make = splitkv->make;
    registry.add([make] {
      return std::make_unique<PlantedBackend>("loses_its_gpu", make(), Misdeeds{{}, read_nowhere});
    });
  }
  registry.add([] { return std::make_unique<PoolReader>(); });
  return registry;
}

constexpr const char* kScenario = R"(
seed: 7
defaults:
  model: {heads_q: 8, heads_kv: 2, head_dim: 64}
  dtype: bf16
  kv_cache: {page_size: 16, dtype: bf16}
mixes:
  first: {batch: [{count: 5, mode: decode, kv_len: 333}]}
  second: {batch: [{count: 3, mode: extend, prefix_len: 40, q_len: 20}]}
measure: {cache: [cold], launch: [eager, graph], rounds: [6, 6], samples: [1, 5], precision: 99%}
verify: {rows: 64}
)";

class IsolateGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    scenario_.measure.force_graph = true;
  }
  RunResult run() {
    IsolatedExecutor executor(scenario_, {});
    return run_scenario(scenario_, plan_run(scenario_, registry_, filter_), executor, {});
  }
  /// Four cells each: two cases, eager and graph.
  static void expect_one_culprit(const RunResult& result, Verdict of_others) {
    int crashed = 0, well = 0;
    for (const Record& r : result.records) {
      SCOPED_TRACE(r.case_id + " " + r.backend + " " + std::string(to_string(r.launch)));
      if (r.backend == "loses_its_gpu") {
        EXPECT_EQ(r.verdict(), Verdict::kCrashed);
        EXPECT_THAT(r.reason(), HasSubstr("cudaErrorIllegalAddress"));
        ++crashed;
      } else {
        EXPECT_EQ(r.verdict(), of_others) << r.reason();
        EXPECT_EQ(r.timing.status, MeasureStatus::kConverged) << r.reason();
        EXPECT_GT(r.timing.median_us, 0);
        ++well;
      }
    }
    EXPECT_EQ(crashed, 4);
    EXPECT_EQ(well, 8);
  }

  Scenario scenario_ = parse_scenario(kScenario, "isolate.yaml");
  Registry registry_ = planted_registry();
  RunFilter filter_{{}, {"splitkv", "loses_its_gpu", "paged_fa"}};
};

TEST_F(IsolateGpu, a_lost_gpu_costs_the_backend_that_lost_it_alone) {
  const RunResult result = run();
  expect_one_culprit(result, Verdict::kPassed);
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.environment.device.kind, DeviceKind::kCuda);
  EXPECT_GT(result.ceilings.read_bytes_per_s, 1e11);
}

TEST_F(IsolateGpu, a_gpu_lost_between_the_others_visits_costs_them_nothing) {
  scenario_.verify.enabled = false;
  expect_one_culprit(run(), Verdict::kNotVerified);
}

TEST_F(IsolateGpu, times_batched_graphs_in_the_child) {
  filter_.backends = {"pool_reader"};
  scenario_ = parse_scenario(R"(
seed: 7
defaults:
  model: {heads_q: 8, heads_kv: 2, head_dim: 64}
  kv_cache: {page_size: 16}
mixes:
  short: {batch: [{count: 4, mode: decode, kv_len: 1k}]}
measure: {cache: [cold, warm], launch: [graph], rounds: [6, 6], samples: [1, 5]}
verify: {enabled: false}
)",
                             "short.yaml");
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  for (const Record& r : result.records) {
    EXPECT_TRUE(r.is_short) << r.timing.median_us;
    EXPECT_TRUE(r.graph_n.timed()) << r.graph_n.reason;
    // A forward of the graph, not the whole graph. Either stands at the floor of what can be timed.
    EXPECT_LT(r.graph_n.timing.median_us, 2 * r.timing.median_us);
  }
}

}  // namespace
}  // namespace attnbench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == attnbench::kWorkerCommand) {
    return attnbench::run_worker(attnbench::planted_registry(), std::atoi(argv[2]));
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
