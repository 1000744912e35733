// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of backends that build index arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "lib/backend/testing/stub_backend.h"
#include "lib/index/csr.h"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// What is done to the arrays once they are right: kv_indptr, kv_indices, requests.
using Damage =
    std::function<void(std::int32_t* starts, std::int32_t* pages, std::int64_t requests)>;

void none(std::int32_t*, std::int32_t*, std::int64_t) {}

class CsrBuilder final : public StubBackend {
 public:
  /// `sound_runs`: before the damage begins, or, where there is none, before it does nothing more.
  CsrBuilder(Damage damage, int sound_runs)
      : StubBackend("builder"), damage_(std::move(damage)), sound_runs_(sound_runs) {
    info_.builds_indices = {IndexForm::kCsr};
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    return std::make_unique<FunctionPlan>([this, &batch](Stream&) { build(batch); });
  }

 private:
  void build(const ForwardBatch& batch) {
    const bool is_sound = runs_++ < sound_runs_;
    if (!is_sound && !damage_) return;
    const CsrIndices csr = build_csr(batch, batch.problem->cache.page_size);
    const std::vector<IndexOutput>& to = batch.index_outputs->arrays;
    std::ranges::copy(csr.kv_indptr, to[0].data);
    std::ranges::copy(csr.kv_indices, to[1].data);
    if (!is_sound) damage_(to[0].data, to[1].data, batch.batch_size);
  }

  Damage damage_;
  int sound_runs_;
  int runs_ = 0;
};

class IndexRun : public testing::Test {
 protected:
  IndexRun() {
    devices_.push_back(make_cpu_device(1));
    scenario_.name = "index";
    scenario_.cases = {small_plain_decode()};
    scenario_.measure.step = {StepPart::kIndex};
    scenario_.measure.cache = {CacheState::kWarm};
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 6;
    scenario_.measure.block_s = 0;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 3;
  }
  std::vector<Record> run(const Damage& damage, int sound_runs = 0) {
    Registry registry;
    registry.add([=] { return std::make_unique<CsrBuilder>(damage, sound_runs); });
    registry.add([] { return std::make_unique<StubBackend>("reader"); });
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(scenario_, plan_run(scenario_, registry, filter_), executor, {}).records;
  }

  Devices devices_;
  Scenario scenario_;
  RunFilter filter_;
};

TEST_F(IndexRun, times_and_checks_who_builds_index_arrays_and_asks_no_others) {
  const std::vector<Record> records = run(none);
  ASSERT_EQ(records.size(), 1u);
  const Record& r = records[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.step, StepPart::kIndex);
  EXPECT_TRUE(r.is_timed());
  EXPECT_EQ(r.error.rows, 0) << "nothing is computed";
  EXPECT_GT(r.slots_checked, 0);
  EXPECT_THAT(r.repro, HasSubstr("--step index"));
}

TEST_F(IndexRun, asks_no_builder_to_attend_where_none_is_named) {
  scenario_.measure.step = {StepPart::kAttention, StepPart::kIndex};
  const std::vector<Record> records = run(none);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].backend, "reader");
  EXPECT_EQ(records[1].backend, "builder");
}

TEST_F(IndexRun, says_why_a_backend_that_is_named_builds_nothing) {
  filter_.backends = {"reader", "builder"};
  scenario_.cases[0].index_form = IndexForm::kPageTable;
  const std::vector<Record> records = run(none);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].reason(), "it builds no index arrays");
  EXPECT_EQ(records[1].reason(), "it builds csr, not page_table");
}

TEST_F(IndexRun, blames_a_wrong_entry) {
  const Record r = run([](auto*, std::int32_t* pages, auto) { pages[1] += 1; })[0];
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), StartsWith("kv_indices[1] of request 1 is 3; it should be 2;"));
  EXPECT_FALSE(r.is_timed() && r.claims_speed());
}

TEST_F(IndexRun, blames_an_entry_that_is_left_unwritten) {
  const Record r = run([](std::int32_t* starts, std::int32_t* pages, std::int64_t requests) {
    pages[starts[requests] - 1] = -1;
  })[0];
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr(" was not written; it should be "));
}

TEST_F(IndexRun, blames_a_write_behind_the_array) {
  const Record r = run([](std::int32_t* starts, std::int32_t* pages, std::int64_t requests) {
    pages[starts[requests]] = 3;
  })[0];
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("guard bytes of 'kv_indices' changed"));
}

TEST_F(IndexRun, blames_a_wrong_entry_of_a_timed_sample) {
  const Record r = run([](std::int32_t* starts, auto*, auto) { starts[0] = 1; }, 20)[0];
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("kv_indptr[0] of request 0 is 1; it should be 0"));
  EXPECT_THAT(r.reason(), EndsWith("were timed"));
}

TEST_F(IndexRun, blames_a_timed_sample_that_leaves_the_arrays_of_the_one_before) {
  const Record r = run(nullptr, 20)[0];
  EXPECT_THAT(r.reason(), StartsWith("kv_indptr[1] of request 0 was not written"));
  EXPECT_THAT(r.reason(), EndsWith("were timed"));
}

TEST_F(IndexRun, refuses_layers_without_keys) {
  scenario_.cases = {small_delta_nets()[0]};
  const std::vector<Record> records = run(none);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].reason(), "a recurrent layer has no KV cache to index");
}

}  // namespace
}  // namespace attnbench
