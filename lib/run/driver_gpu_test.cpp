// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "backends/register.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/device/cuda/timer_kernels.cuh"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/hybrid_entry.h"
#include "lib/session/local_executor.h"
#include "lib/session/pipeline_entry.h"

namespace attnbench {
namespace {

class TwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    register_builtin_backends(registry_);
    std::vector<const Registry::Entry*> all;
    for (const Registry::Entry& entry : registry_.entries()) all.push_back(&entry);
    devices_ = open_devices(all, {});
    for (const Registry::Entry* entry : all) {
      if (entry->make && entry->info.by_default) scenario_.backends.push_back(entry->info.name);
    }
    scenario_.name = "two";
    scenario_.path = "two.yaml";
    scenario_.seed = 7;
    scenario_.cases = {small_prefix_hits(), small_tree_verify(), small_mla()};
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 3;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 1;
    scenario_.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
    scenario_.verify.fills = {Fill::kNeedle, Fill::kNormal, Fill::kTiming};
  }

  RunResult run(const RunFilter& filter = {}) {
    LocalExecutor executor(devices_);
    return run_scenario(scenario_, plan_run(scenario_, registry_, filter), executor, {});
  }

  Scenario scenario_;
  Registry registry_;
  Devices devices_;
};

TEST_F(TwoDevices, run_every_backend_where_it_belongs_on_the_same_contents) {
  const RunResult result = run();
  ASSERT_EQ(result.devices.size(), 2u);
  EXPECT_EQ(result.environment.device.kind, DeviceKind::kCuda);
  EXPECT_GT(result.devices[1].ceilings.read_bytes_per_s, 0);
  std::map<std::string, std::set<std::string>> hashes;  // by case
  std::set<DeviceKind> timed;
  for (const Record& r : result.records) {
    SCOPED_TRACE(r.case_id + " " + r.backend + " " + std::string(to_string(r.launch)));
    const DeviceKind kind = registry_.find(r.backend)->info.device;
    EXPECT_EQ(r.device, devices_[kind == DeviceKind::kCpu ? 0 : 1]->info().name);
    EXPECT_FALSE(is_failure(r.verdict())) << r.reason();
    hashes[r.case_id].insert(r.fixture_hash);
    if (!r.is_timed()) continue;
    timed.insert(kind);
    EXPECT_TRUE(kind == DeviceKind::kCuda || r.launch == LaunchMode::kEager);
    EXPECT_GT(r.timing.median_us, 0);
  }
  EXPECT_EQ(timed.size(), 2u);
  for (const auto& [id, seen] : hashes) {
    EXPECT_THAT(seen, testing::SizeIs(1)) << id;
    EXPECT_EQ(seen.begin()->size(), 16u) << id;
  }
}

TEST_F(TwoDevices, pad_recorded_steps_to_their_bucket_and_update_them) {
  scenario_.cases = {small_plain_decode(), small_tree_verify(), small_mla()};
  scenario_.measure.launch = {LaunchMode::kGraph};
  for (Case& c : scenario_.cases) {
    c.graph_bucket = static_cast<std::int64_t>(c.requests.size()) + 5;
  }
  const RunResult result = run();
  int timed = 0;
  for (const Record& r : result.records) {
    SCOPED_TRACE(r.case_id + " " + r.backend);
    EXPECT_FALSE(is_failure(r.verdict())) << r.reason();
    if (!r.is_timed()) continue;
    ++timed;
    EXPECT_GT(r.samples_checked, 0);
  }
  EXPECT_GE(timed, 3);
}

TEST_F(TwoDevices, update_recorded_pipelines_of_keys_and_of_pools_with_tails) {
  scenario_.backends = {"indexer_cuda+topk_cuda+mla"};
  add_pipeline(registry_, scenario_.backends[0]);
  Case keys = small_mla();
  keys.kv_cache.page_size = 64;
  keys.layer.selection = {.topk = 48, .index_heads = 64};
  for (std::size_t i = 0; i < keys.requests.size(); ++i) {
    keys.requests[i].kv_len = static_cast<std::int64_t>(1 + 170 * i);
  }
  Case pools = keys;
  pools.id = "pools";
  pools.kv_cache.page_size = 1024;
  pools.layer.selection = {.topk = 4, .unit = 16, .tail = SelectionTail::kOpen, .index_heads = 32};
  Case own = pools;
  own.id = "own";
  own.layer.selection.tail = SelectionTail::kOwn;
  scenario_.cases = {keys, pools, own};
  for (Case& c : scenario_.cases) c.graph_bucket = std::ssize(c.requests) + 5;
  scenario_.measure.step = {StepPart::kPipeline};
  for (const Record& r : run().records) {
    SCOPED_TRACE(r.case_id + " " + std::string(to_string(r.launch)));
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    EXPECT_TRUE(r.is_timed());
    EXPECT_GT(r.samples_checked, 0);
    EXPECT_EQ(r.update.median_us > 0, r.launch == LaunchMode::kGraph);
  }
}

TEST_F(TwoDevices, compute_a_step_in_both_forms_of_latent_attention_by_a_pair) {
  add_hybrid(registry_, "paged_fa+mla");
  scenario_.backends = {"cpu_flash", "paged_fa+mla"};
  scenario_.cases = {small_composed_step()};
  scenario_.measure.launch = {LaunchMode::kEager};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  for (const Record& r : result.records) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
    EXPECT_TRUE(r.is_timed()) << r.backend;
    EXPECT_GT(r.samples_checked, 0) << r.backend;
  }
  EXPECT_EQ(result.records[0].fixture_hash, result.records[1].fixture_hash);
}

/// splitkv, beside which a stream of its own does something for 300 us.
class BusyBeside final : public Backend {
 public:
  explicit BusyBeside(std::unique_ptr<Backend> inner)
      : inner_(std::move(inner)), info_(inner_->info()) {
    info_.name = "busy_beside";
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return inner_->supports(problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return inner_->numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    std::shared_ptr<Plan> plan = inner_->plan(batch, memory);
    std::shared_ptr<Stream> side = memory.device().make_stream();
    return std::make_unique<FunctionPlan>([plan, side](Stream& stream) {
      enqueue_spin(*side, 300'000);
      plan->run(stream);
    });
  }

 private:
  std::unique_ptr<Backend> inner_;
  BackendInfo info_;
};

TEST_F(TwoDevices, trust_no_figure_of_a_backend_that_works_while_its_launch_is_queued) {
  const Registry::Factory make = registry_.find("splitkv")->make;
  registry_.add([make] { return std::make_unique<BusyBeside>(make()); });
  scenario_.backends = {"splitkv", "busy_beside"};
  scenario_.cases = {small_plain_decode()};
  Case& c = scenario_.cases.front();
  c.dtype = c.kv_cache.dtype = DType::kBF16;
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  scenario_.measure.launch = {LaunchMode::kEager};
  scenario_.measure.max_block_samples = scenario_.measure.min_block_samples = 20;
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kPassed) << result.records[0].reason();
  EXPECT_EQ(result.records[1].verdict(), Verdict::kMistrusted);
  EXPECT_THAT(result.records[1].reason(), testing::HasSubstr("the GPU ran other work while"));
}

TEST_F(TwoDevices, join_queries_that_come_apart_in_a_replayed_graph) {
  scenario_.backends = {"mla", "mla:padded_heads"};
  scenario_.cases = {small_queries_apart().front()};
  scenario_.measure.launch = {LaunchMode::kGraph};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  for (const Record& r : result.records) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
    EXPECT_TRUE(r.is_timed()) << r.backend;
    EXPECT_GT(r.samples_checked, 0) << r.backend;
  }
}

TEST_F(TwoDevices, know_the_workspace_of_eager_and_of_recorded_plans) {
  scenario_.cases = {small_plain_decode(), small_mla()};
  for (Case& c : scenario_.cases) {
    c.graph_bucket = static_cast<std::int64_t>(c.requests.size()) + 5;
  }
  const RunResult result = run();
  std::set<LaunchMode> known;
  for (const Record& r : result.records) {
    if (!r.is_timed() || registry_.find(r.backend)->info.device != DeviceKind::kCuda) continue;
    EXPECT_GT(r.workspace_bytes, 0) << r.case_id << " " << r.backend;
    known.insert(r.launch);
  }
  EXPECT_EQ(known.size(), 2u);
}

TEST_F(TwoDevices, skip_plans_that_want_more_workspace_than_the_scenario_allows) {
  scenario_.cases = {small_mla()};
  scenario_.measure.workspace_limit = 1;
  const RunResult result = run();
  int skipped = 0;
  for (const Record& r : result.records) {
    EXPECT_FALSE(r.is_timed() && r.workspace_bytes > 1) << r.backend;
    if (r.verdict() != Verdict::kSkipped) continue;
    ++skipped;
    EXPECT_THAT(r.reason(), testing::HasSubstr(" MiB of workspace, the scenario allows "));
  }
  EXPECT_GE(skipped, 2);
}

TEST_F(TwoDevices, run_recurrent_layers_eager_and_from_graphs) {
  scenario_.cases = small_delta_nets();
  scenario_.cases.push_back(small_delta_net_drafts()[0]);
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm, CacheState::kServing};
  for (Case& c : scenario_.cases) {
    if (c.mode == ForwardMode::kDecode || c.mode == ForwardMode::kTargetVerify) {
      c.graph_bucket = static_cast<std::int64_t>(c.requests.size()) + 3;
    }
  }
  const RunResult result = run();
  std::map<std::string, std::set<std::string>> hashes;  // by case
  int on_gpu = 0, replayed = 0;
  for (const Record& r : result.records) {
    SCOPED_TRACE(r.case_id + " " + r.backend + " " + std::string(to_string(r.launch)));
    EXPECT_FALSE(is_failure(r.verdict())) << r.reason();
    if (!r.is_timed()) continue;
    hashes[r.case_id].insert(r.fixture_hash);
    EXPECT_GT(r.samples_checked, 0);
    if (r.backend == "gated_delta_net") continue;
    EXPECT_EQ(r.backend, "gated_delta_net_cuda");
    ++on_gpu;
    replayed += r.launch == LaunchMode::kGraph ? 1 : 0;
  }
  EXPECT_EQ(on_gpu, 3 * (4 + 2));
  EXPECT_EQ(replayed, 3 * 2) << "the decodes and the draft";
  for (const auto& [id, seen] : hashes) EXPECT_THAT(seen, testing::SizeIs(1)) << id;
}

TEST_F(TwoDevices, leave_the_host_to_what_the_gpu_does_not_support_where_nobody_names_it) {
  scenario_.backends.clear();
  Case plain = small_plain_decode();
  plain.dtype = plain.kv_cache.dtype = DType::kBF16;  // which every GPU backend of the tree reads
  plain.layer.heads_q = 8;
  plain.layer.heads_kv = 2;
  plain.layer.head_dim_qk = plain.layer.head_dim_v = 128;
  plain.kv_cache.page_size = 16;
  scenario_.cases = {plain};
  const RunResult result = run();
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].device.kind, DeviceKind::kCuda);
  for (const Record& r : result.records) {
    EXPECT_EQ(registry_.find(r.backend)->info.device, DeviceKind::kCuda) << r.backend;
  }
  EXPECT_THAT(result.cpu_fallbacks, testing::Contains("torch_native"));
}

TEST_F(TwoDevices, leave_the_one_out_that_no_chosen_backend_needs) {
  scenario_.cases.resize(1);
  RunFilter filter;
  filter.backends = {"torch_native"};
  const RunResult result = run(filter);
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.environment.device.kind, DeviceKind::kCpu);
}

TEST(OpenDevices, refuses_a_gpu_that_is_not_there) {
  EXPECT_ANY_THROW(static_cast<void>(open_devices({}, {.threads = 1, .gpu = 1000})));
}

}  // namespace
}  // namespace attnbench
