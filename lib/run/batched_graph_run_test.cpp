// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Which cells are timed a second time, in a batched graph, and what their records say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What a fake GPU finds: the first figure of each cell, and the batched graph's.
struct Script {
  DeviceKind kind = DeviceKind::kCuda;
  std::map<CacheState, double> once_us = {{CacheState::kCold, 4}, {CacheState::kWarm, 3}};
  double graph_us = 60;         ///< of all its forwards
  std::string failure;          ///< thrown instead of it
  bool writes_too_far = false;  ///< as its verification finds
  double read_bytes_per_s = 1e15;
  std::int64_t cache_bytes = 0;  ///< sized by the case
  std::vector<BatchedGraph> graphs;
};

class FakeSamples final : public SampleSource {
 public:
  FakeSamples(double us, std::string failure) : us_(us), failure_(std::move(failure)) {}
  void warm_up(WarmUp&, double, double, const Stop&) override {
    if (!failure_.empty()) throw EnvironmentError(failure_);
  }
  void take(SampleBlock& block, int, double, const Stop&) override {
    block.samples.assign(5, {us_, 1, 0});
  }

 private:
  double us_;
  std::string failure_;
};

class FakeSession final : public Session {
 public:
  FakeSession(const Case& c, Script& script) : case_(&c), script_(&script) {}
  [[nodiscard]] std::vector<Numerics> numerics() override { return {Numerics{}}; }
  [[nodiscard]] FormatChoice supports() override { return {}; }
  void begin_observing(const WantedRows& wanted) override { wanted_ = &wanted; }
  /// The reference's own rows.
  [[nodiscard]] Observation observe() override {
    Observation found;
    for (const Fill fill : wanted_->fills) {
      FillOutputs outputs;
      outputs.pages.assign(wanted_->rows.size(), -1);
      for (const ReferenceRow& row :
           reference::evaluate_rows(*case_, Contents(*case_, fill), wanted_->rows)) {
        for (const double value : row.out) append(case_->dtype, outputs.rows, value);
        append(DType::kF32, outputs.rows, row.lse);
      }
      found.fills.push_back(std::move(outputs));
    }
    if (script_->writes_too_far) found.faults.emplace_back("it wrote too far");
    return found;
  }
  void repair_fixture() override {}
  [[nodiscard]] std::string fill_for_timing() override { return "hash"; }
  [[nodiscard]] PlanCost plan() override { return {{1, 2}, 0}; }
  [[nodiscard]] RecordedPlan plan_recorded() override { return {{3, 4}, 0, {}}; }
  [[nodiscard]] IndexTiming time_indices() override { return {}; }
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode) override {
    return std::make_unique<FakeSamples>(script_->once_us.at(cache), "");
  }
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState,
                                                              BatchedGraph graph) override {
    script_->graphs.push_back(graph);
    return std::make_unique<FakeSamples>(script_->graph_us, script_->failure);
  }
  [[nodiscard]] std::string finish() override { return {}; }

 private:
  static void append(DType dtype, std::vector<std::byte>& bytes, double value) {
    const auto size = static_cast<std::size_t>(size_bytes(dtype));
    bytes.resize(bytes.size() + size);
    store(dtype, bytes.data() + bytes.size() - size, static_cast<float>(value));
  }

  const Case* case_;
  Script* script_;
  const WantedRows* wanted_ = nullptr;
};

class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(Script& script) : script_(&script) {}
  [[nodiscard]] DeviceInfo host() const override { return {}; }
  [[nodiscard]] std::vector<RunDevice> prepare(std::span<const Registry::Entry* const>) override {
    DeviceInfo info;
    info.kind = script_->kind;
    info.name = "fake";
    info.units = 132;
    info.last_level_cache_bytes = script_->cache_bytes;
    return {{info, {script_->read_bytes_per_s, 1e15, 1e18}, {}, {}}};
  }
  [[nodiscard]] std::unique_ptr<Session> begin(const Case& c, const Registry::Entry&,
                                               int) override {
    return std::make_unique<FakeSession>(c, *script_);
  }

 private:
  Script* script_;
};

class Nothing final : public StubBackend {
 public:
  explicit Nothing(DeviceKind kind) : StubBackend("nothing") {
    info_.device = kind;
    info_.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
};

class BatchedGraphRunTest : public testing::Test {
 protected:
  BatchedGraphRunTest() {
    scenario_.name = "short";
    scenario_.cases = {small_plain_decode()};
    scenario_.verify.enabled = true;
    scenario_.verify.fills = {Fill::kNormal};
    scenario_.measure.launch = {LaunchMode::kGraph};
    scenario_.measure.block_s = 1e-4;
    // A third of it lies between two uses of a set: 31 sets.
    script_.cache_bytes = 10 * bytes();
  }
  [[nodiscard]] std::int64_t bytes() const { return count_cost(scenario_.cases[0]).bytes_unique; }
  [[nodiscard]] RunResult run() {
    Registry registry;
    registry.add([this] { return std::make_unique<Nothing>(script_.kind); });
    FakeExecutor executor(script_);
    return run_scenario(scenario_, plan_run(scenario_, registry, {}), executor, hooks_);
  }

  Scenario scenario_;
  Script script_;
  RunHooks hooks_;
};

TEST_F(BatchedGraphRunTest, stands_beside_the_figure_of_one_launch) {
  const Record r = run().records.at(0);
  EXPECT_TRUE(r.is_short);
  EXPECT_EQ(r.timing.median_us, 4) << "the main figure stays";
  ASSERT_TRUE(r.graph_n.timed()) << r.graph_n.reason;
  EXPECT_EQ(r.graph_n.graph.forwards, 31);
  EXPECT_EQ(r.graph_n.graph.sets, 31);
  EXPECT_DOUBLE_EQ(r.graph_n.timing.median_us, 60.0 / 31);
  EXPECT_EQ(r.graph_n.timing.rounds, 12);
}

TEST_F(BatchedGraphRunTest, has_what_planning_and_updating_cost_in_its_record) {
  const Record r = run().records.at(0);
  EXPECT_EQ(r.plan.median_us, 1);
  EXPECT_EQ(r.plan.max_us, 2);
  EXPECT_EQ(r.update.median_us, 3);
  EXPECT_EQ(r.update.max_us, 4);
}

TEST_F(BatchedGraphRunTest, rotates_cold_cells_only) {
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm};
  const RunResult result = run();
  ASSERT_EQ(script_.graphs.size(), 2u);
  EXPECT_EQ(script_.graphs[0].sets, 31);
  EXPECT_EQ(script_.graphs[1].sets, 1);
  EXPECT_EQ(result.records[1].graph_n.graph.forwards, 20);
  EXPECT_DOUBLE_EQ(result.records[1].graph_n.timing.median_us, 3);
}

TEST_F(BatchedGraphRunTest, is_not_made_for_a_smoke_test) {
  scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 1;
  EXPECT_FALSE(run().records.at(0).graph_n.tried());
  EXPECT_TRUE(script_.graphs.empty());
}

TEST_F(BatchedGraphRunTest, is_not_asked_of_longer_cells_serving_ones_eager_ones_or_wrong_ones) {
  script_.once_us = {{CacheState::kCold, 10}, {CacheState::kServing, 4}};
  scenario_.measure.cache = {CacheState::kCold, CacheState::kServing};
  EXPECT_FALSE(run().records.at(0).graph_n.tried());
  script_.once_us = {{CacheState::kCold, 4}};
  scenario_.measure.cache = {CacheState::kCold};
  scenario_.measure.launch = {LaunchMode::kEager};
  EXPECT_FALSE(run().records.at(0).graph_n.tried());
  scenario_.measure.launch = {LaunchMode::kGraph};
  script_.writes_too_far = true;
  EXPECT_FALSE(run().records.at(0).graph_n.tried());
  script_.writes_too_far = false;
  script_.kind = DeviceKind::kCpu;
  EXPECT_FALSE(run().records.at(0).graph_n.tried());
  EXPECT_TRUE(script_.graphs.empty());
}

TEST_F(BatchedGraphRunTest, is_refused_with_the_reason_when_there_is_no_memory_for_the_sets) {
  script_.failure = "kv pool needs 7.0 GB of GPU memory, 3.0 GB are available";
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << "the first figure is none the worse for it";
  EXPECT_EQ(r.timing.status, MeasureStatus::kConverged);
  EXPECT_TRUE(r.graph_n.tried());
  EXPECT_FALSE(r.graph_n.timed());
  EXPECT_EQ(r.graph_n.reason, script_.failure);
}

TEST_F(BatchedGraphRunTest, claims_nothing_that_memory_cannot_deliver) {
  // 4 us are possible at this rate, 60 / 31 us are not.
  script_.read_bytes_per_s = static_cast<double>(bytes()) / 3e-6;
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm};
  script_.graph_us = 50;  // warm: 2.5 us, from the cache
  const RunResult result = run();
  EXPECT_FALSE(result.records[0].is_impossible());
  EXPECT_FALSE(result.records[0].graph_n.timed());
  EXPECT_THAT(result.records[0].graph_n.reason, HasSubstr("GB/s from memory is above 1.02 x"));
  EXPECT_TRUE(result.records[1].graph_n.timed());
}

TEST_F(BatchedGraphRunTest, says_when_a_stop_left_it_out) {
  bool stop = false;
  hooks_.progress = [&](const std::string& line, double) {
    stop = stop || line.find("· graph×31 · round 2") != std::string::npos;
  };
  hooks_.stop_requested = [&] { return stop; };
  const RunResult result = run();
  const Record& r = result.records.at(0);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(r.timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(r.graph_n.timing.status, MeasureStatus::kInterrupted);
  EXPECT_EQ(r.graph_n.timing.rounds, 2);
}

class GraphLevelTest : public BatchedGraphRunTest {
 protected:
  GraphLevelTest() { scenario_.cases = {small_plain_decode(), small_sliding_window()}; }
};

TEST_F(GraphLevelTest, refuses_a_graph_that_the_backend_does_not_claim) {
  scenario_.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 4u);
  for (const std::size_t claimed : {0u, 1u, 2u}) {
    EXPECT_TRUE(result.records[claimed].is_timed()) << claimed;
    EXPECT_EQ(result.records[claimed].verdict(), Verdict::kPassed) << claimed;
  }
  const Record& refused = result.records[3];
  EXPECT_FALSE(refused.is_timed());
  EXPECT_FALSE(refused.graph_forced);
  EXPECT_EQ(refused.verdict(), Verdict::kUnsupported);
  EXPECT_EQ(refused.reason(),
            "no CUDA graph: extend needs level ALWAYS, the backend claims UNIFORM_BATCH");
}

TEST_F(GraphLevelTest, does_not_even_verify_where_no_launch_is_left) {
  script_.writes_too_far = true;
  const RunResult result = run();
  EXPECT_EQ(result.records[0].verdict(), Verdict::kIncorrect);
  EXPECT_EQ(result.records[1].verdict(), Verdict::kUnsupported);
  EXPECT_THAT(result.records[1].reason(), HasSubstr("needs level ALWAYS"));
}

TEST_F(GraphLevelTest, times_it_by_force_and_marks_it) {
  scenario_.measure.force_graph = true;
  const RunResult result = run();
  EXPECT_FALSE(result.records[0].graph_forced) << "claimed";
  EXPECT_THAT(result.records[0].repro, Not(HasSubstr("--force-graph")));
  EXPECT_TRUE(result.records[1].graph_forced);
  EXPECT_TRUE(result.records[1].is_timed());
  EXPECT_EQ(result.records[1].verdict(), Verdict::kPassed);
  EXPECT_THAT(result.records[1].repro, HasSubstr("--launch graph --seed 0 --force-graph"));
}

}  // namespace
}  // namespace attnbench
