// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of backends that write this step's keys and values into the cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lib/backend/testing/stub_backend.h"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

constexpr int kAlways = 1 << 30;

/// Copies rows as they are, for a cache in the type of the activations, and attends to nothing.
class CopyingWriter final : public StubBackend {
 public:
  /// `honest_runs`: afterwards it leaves the slots as they are.
  CopyingWriter(std::string name, int honest_runs)
      : StubBackend(std::move(name)), honest_runs_(honest_runs) {
    info_.writes_kv = true;
  }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return attends(problem.step) ? Support::no("it computes nothing") : Support::yes();
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    return std::make_unique<FunctionPlan>([this, &batch](Stream&) {
      if (runs_++ < honest_runs_) write(batch);
    });
  }

 private:
  static void write(const ForwardBatch& batch) {
    const KvPool& pool = *batch.token_to_kv_pool;
    for (std::int64_t token = 0; token < batch.q_tokens(); ++token) {
      const std::int64_t slot = batch.out_cache_loc[static_cast<std::size_t>(token)];
      for (int head = 0; head < pool.heads_kv; ++head) {
        copy(batch.tensors.k_new, token, head, pool.k_row(slot, head));
        copy(batch.tensors.v_new, token, head, pool.v_row(slot, head));
      }
    }
  }
  static void copy(const ConstTensorView& from, std::int64_t token, int head, std::byte* to) {
    std::memcpy(to, from.row(token, head),
                static_cast<std::size_t>(from.shape[2] * size_bytes(from.dtype)));
  }

  int honest_runs_;
  int runs_ = 0;
};

class KvWriteRun : public testing::Test {
 protected:
  KvWriteRun() {
    devices_.push_back(make_cpu_device(1));
    scenario_.name = "kv_write";
    scenario_.cases = {small_plain_decode()};
    scenario_.measure.step = {StepPart::kKvWrite};
    scenario_.measure.cache = {CacheState::kWarm};
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 6;
    scenario_.measure.block_s = 0;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 3;
  }
  std::vector<Record> run(int honest_runs) {
    Registry registry;
    registry.add([=] { return std::make_unique<CopyingWriter>("writer", honest_runs); });
    registry.add([] { return std::make_unique<StubBackend>("reader"); });
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(scenario_, plan_run(scenario_, registry, {}), executor, {}).records;
  }

  Devices devices_;
  Scenario scenario_;
};

TEST_F(KvWriteRun, times_and_checks_the_write_alone) {
  const std::vector<Record> records = run(kAlways);
  ASSERT_EQ(records.size(), 2u);
  const Record& r = records[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.step, StepPart::kKvWrite);
  EXPECT_TRUE(r.is_timed());
  EXPECT_GT(r.samples_checked, 0);
  EXPECT_GE(r.slots_checked, 6 * scenario_.cases[0].q_tokens());
  EXPECT_EQ(r.error.rows, 0) << "nothing is computed";
  EXPECT_THAT(r.repro, HasSubstr("--step kv_write"));
}

TEST_F(KvWriteRun, asks_no_backend_that_does_not_write) {
  const std::vector<Record> records = run(kAlways);
  EXPECT_EQ(records[1].verdict(), Verdict::kUnsupported);
  EXPECT_EQ(records[1].reason(), "it writes no KV cache: attention alone");
}

TEST_F(KvWriteRun, blames_a_write_that_is_missing) {
  const Record r = run(0)[0];
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("the slot of request 0's new token 0 holds other than k_new"));
}

TEST_F(KvWriteRun, blames_a_write_that_is_missing_from_a_timed_sample) {
  const Record r = run(20)[0];  // a verification and plans take fewer
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("holds other than k_new"));
  EXPECT_THAT(r.reason(), HasSubstr("timed sample"));
}

TEST_F(KvWriteRun, has_a_row_for_each_part_of_the_step) {
  scenario_.measure.step = {StepPart::kAttention, StepPart::kKvWrite, StepPart::kBoth};
  const std::vector<Record> records = run(kAlways);
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[0].reason(), "it computes nothing");
  EXPECT_EQ(records[2].verdict(), Verdict::kPassed) << records[2].reason();
  EXPECT_EQ(records[4].step, StepPart::kBoth);
  EXPECT_EQ(records[0].case_id, records[4].case_id);
}

TEST_F(KvWriteRun, of_a_cross_layer_is_that_of_its_new_encoders) {
  scenario_.cases = {small_cross()};
  const Record r = run(kAlways)[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.case_id, small_cross().id);
  EXPECT_EQ(r.requests, 2);
  EXPECT_EQ(r.kv_tokens, 7 + 33);
  EXPECT_THAT(run(0)[0].reason(),
              HasSubstr("the slot of request 0's new token 0 holds other than k_new"));
}

TEST_F(KvWriteRun, stands_for_the_layers_of_a_model_that_write) {
  scenario_.measure.step = {StepPart::kAttention, StepPart::kKvWrite, StepPart::kBoth};
  scenario_.cases[0].model_layers = {"full", 7, 7, "", 3};
  const std::vector<Record> records = run(kAlways);
  EXPECT_EQ(records[0].model_layers.layers, 7);
  EXPECT_EQ(records[2].model_layers.layers, 4);
  EXPECT_EQ(records[4].model_layers.layers, 4);
}

}  // namespace
}  // namespace attnbench
