// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers change their inputs: what is timed is right only if the states of before are
// there in each sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

enum class LateHabit { kNone, kRepeatsOutputs, kRepeatsStates, kWritesToOthers, kCommits };

/// More runs than verification takes.
constexpr int kLateAfter = 24;

/// Honest at first; later it hands out what an earlier run made.
class LatePlan final : public Plan {
 public:
  LatePlan(LateHabit habit, int& runs, const ForwardBatch& batch, std::unique_ptr<Plan> honest)
      : habit_(habit), runs_(&runs), batch_(&batch), honest_(std::move(honest)) {}

  void run(Stream& stream) override {
    honest_->run(stream);
    const TensorView& out = batch_->tensors.out;
    const StatePool& pool =
        batch_->intermediate_states != nullptr ? *batch_->intermediate_states : *batch_->state_pool;
    const std::span<std::byte> outputs(
        out.data, static_cast<std::size_t>(out.size() * size_bytes(out.dtype)));
    const std::span<float> states(pool.data,
                                  static_cast<std::size_t>(pool.slots * pool.slot_size()));
    if (++*runs_ <= kLateAfter || outputs_.empty()) {
      outputs_.assign(outputs.begin(), outputs.end());
      states_.assign(states.begin(), states.end());
    } else if (habit_ == LateHabit::kRepeatsOutputs) {
      std::ranges::copy(outputs_, outputs.begin());
    } else if (habit_ == LateHabit::kRepeatsStates) {
      std::ranges::copy(states_, states.begin());
    } else if (habit_ == LateHabit::kWritesToOthers) {
      states.front() = 1;  // of slot 0, which no request owns
    } else if (habit_ == LateHabit::kCommits) {
      *batch_->state_pool->state(batch_->state_indices.front(), 0) += 1;
    }
  }

 private:
  LateHabit habit_;
  int* runs_;
  const ForwardBatch* batch_;
  std::unique_ptr<Plan> honest_;
  std::vector<std::byte> outputs_;
  std::vector<float> states_;
};

class LateBackend final : public Backend {
 public:
  LateBackend(LateHabit habit, int& runs) : habit_(habit), runs_(&runs) {}
  [[nodiscard]] const BackendInfo& info() const noexcept override { return honest_.info(); }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<LatePlan>(habit_, *runs_, batch, honest_.plan(batch, memory));
  }

 private:
  LateHabit habit_;
  int* runs_;
  MutantBackend honest_{Fault::kNone};
};

/// Honest, on states that lie value dims first.
class ValueDimsFirst final : public Backend {
 public:
  ValueDimsFirst() {
    info_ = honest_.info();
    info_.name = "value_dims_first";
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override {
    return {KvLayout::kStatesVk};
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    EXPECT_TRUE(batch.state_pool->v_first);
    EXPECT_EQ(batch.problem->cache.layout, KvLayout::kStatesVk);
    return std::make_unique<TurningPlan>(batch, memory, honest_);
  }

 private:
  /// Turns the states, lets the honest one work on them, and turns them back.
  class TurningPlan final : public Plan {
   public:
    TurningPlan(const ForwardBatch& batch, PlanMemory& memory, MutantBackend& honest)
        : pool_(*batch.state_pool), turned_(pool_), batch_(batch) {
      states_.resize(static_cast<std::size_t>(pool_.slots * pool_.slot_size()));
      turned_.data = states_.data();
      turned_.v_first = false;
      batch_.state_pool = &turned_;
      plan_ = honest.plan(batch_, memory);
    }

    void run(Stream& stream) override {
      for_all([](float& theirs, float& turned) { turned = theirs; });
      plan_->run(stream);
      for_all([](float& theirs, float& turned) { theirs = turned; });
    }

   private:
    template <class Visit>
    void for_all(const Visit& visit) const {
      for (std::int64_t state = 0; state < pool_.slots * pool_.heads; ++state) {
        float* const theirs = pool_.state(0, state);
        float* const turned = turned_.state(0, state);
        for (std::int64_t k = 0; k < pool_.dim_k; ++k) {
          for (std::int64_t v = 0; v < pool_.dim_v; ++v) {
            visit(theirs[v * pool_.dim_k + k], turned[k * pool_.dim_v + v]);
          }
        }
      }
    }

    StatePool pool_, turned_;
    ForwardBatch batch_;
    std::vector<float> states_;
    std::unique_ptr<Plan> plan_;
  };

  MutantBackend honest_{Fault::kNone};
  BackendInfo info_;
};

std::vector<Record> run_in(const Registry& registry, std::vector<CacheState> cache,
                           const Case& c = small_delta_nets().back(), int samples = 6) {
  Devices devices;
  devices.push_back(make_cpu_device(1));
  Scenario scenario;
  scenario.name = "delta net";
  scenario.seed = 7;
  scenario.cases = {c};
  scenario.measure.cache = std::move(cache);
  scenario.measure.min_rounds = scenario.measure.max_rounds = 4;
  scenario.measure.block_s = 0;
  scenario.measure.min_block_samples = scenario.measure.max_block_samples = samples;
  scenario.verify.fills = {Fill::kNormal};
  LocalExecutor executor(devices, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
  return run_scenario(scenario, plan_run(scenario, registry, {}), executor, {}).records;
}

std::vector<Record> records_of(LateHabit habit, std::vector<CacheState> cache,
                               const Case& c = small_delta_nets().back(), int samples = 6) {
  int runs = 0;
  Registry registry;
  registry.add([&] { return std::make_unique<LateBackend>(habit, runs); });
  return run_in(registry, std::move(cache), c, samples);
}

TEST(DeltaNetTiming, passes_an_honest_backend_in_every_cache_state) {
  const std::vector<Record> records =
      records_of(LateHabit::kNone, {CacheState::kCold, CacheState::kWarm, CacheState::kServing},
                 small_delta_nets().back(), 2);
  EXPECT_EQ(records.size(), 3u);
  for (const Record& record : records) {
    EXPECT_EQ(record.verdict(), Verdict::kPassed) << record.case_id << ": " << record.reason();
    EXPECT_GT(record.samples_checked, 0) << record.case_id;
    EXPECT_TRUE(record.is_recurrent());
  }
}

TEST(DeltaNetTiming, blames_outputs_and_states_of_an_earlier_sample) {
  for (const LateHabit habit : {LateHabit::kRepeatsOutputs, LateHabit::kRepeatsStates}) {
    for (const Record& record : records_of(habit, {CacheState::kWarm})) {
      EXPECT_EQ(record.verdict(), Verdict::kIncorrect) << record.case_id;
      EXPECT_THAT(record.reason(), testing::HasSubstr("in timed sample ")) << record.case_id;
    }
  }
}

TEST(DeltaNetTiming, checks_drafts_of_timed_samples_and_that_they_commit_nothing) {
  const Case draft = small_delta_net_drafts()[0];
  for (const auto& [habit, fault] : {std::pair{LateHabit::kNone, ""},
                                     {LateHabit::kRepeatsOutputs, "in timed sample "},
                                     {LateHabit::kRepeatsStates, "in timed sample "},
                                     {LateHabit::kCommits, "committed states"}}) {
    for (const Record& record : records_of(habit, {CacheState::kWarm}, draft)) {
      EXPECT_EQ(record.verdict(), *fault == '\0' ? Verdict::kPassed : Verdict::kIncorrect)
          << record.reason();
      EXPECT_THAT(record.reason(), testing::HasSubstr(fault));
    }
  }
}

TEST(DeltaNetTiming, checks_states_in_either_order_beside_one_another) {
  Registry registry;
  int runs = 0;
  registry.add([&] { return std::make_unique<LateBackend>(LateHabit::kNone, runs); });
  registry.add([] { return std::make_unique<ValueDimsFirst>(); });
  const std::vector<Record> records = run_in(registry, {CacheState::kWarm});
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) {
    EXPECT_EQ(record.verdict(), Verdict::kPassed) << record.backend << ": " << record.reason();
    EXPECT_GT(record.samples_checked, 0) << record.backend;
    EXPECT_EQ(record.fixture_hash, records.front().fixture_hash);
  }
}

TEST(DeltaNetTiming, blames_writes_to_slots_of_other_requests) {
  for (const Record& record : records_of(LateHabit::kWritesToOthers, {CacheState::kWarm})) {
    EXPECT_EQ(record.verdict(), Verdict::kIncorrect) << record.case_id;
    EXPECT_THAT(record.reason(), testing::HasSubstr("state slots of no request")) << record.case_id;
  }
}

}  // namespace
}  // namespace attnbench
