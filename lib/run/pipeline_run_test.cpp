// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of pipelines, right ones and ones that hand on something else than they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/indexer/indexer.h"
#include "backends/topk/topk.h"
#include "backends/torch_native/torch_native.h"
#include "lib/base/error.h"
#include "lib/run/driver.h"
#include "lib/run/planned_run.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_executor.h"
#include "lib/session/pipeline_entry.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// What a spoilt member does beside its work.
struct Spoiling {
  std::function<void(ForwardBatch&)> when_planned = [](ForwardBatch&) {};
  std::function<void(const ForwardBatch&)> before = [](const ForwardBatch&) {};
  std::function<void(const ForwardBatch&)> after = [](const ForwardBatch&) {};
};

/// A member that reads a batch of its own, which may be changed.
class StagePlan final : public Plan {
 public:
  StagePlan(Backend& honest, const ForwardBatch& batch, PlanMemory& memory, Spoiling spoiling)
      : spoiling_(std::move(spoiling)), batch_(batch) {
    spoiling_.when_planned(batch_);
    plan_ = honest.plan(batch_, memory);
  }
  void run(Stream& stream) override {
    spoiling_.before(batch_);
    plan_->run(stream);
    spoiling_.after(batch_);
  }

 private:
  Spoiling spoiling_;
  ForwardBatch batch_;
  std::unique_ptr<Plan> plan_;
};

template <class Honest>
class SpoiltStage final : public Backend {
 public:
  explicit SpoiltStage(std::function<Spoiling()> make)
      : make_(std::move(make)), info_(honest_.info()) {
    info_.name = "spoilt";
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return honest_.formats(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<StagePlan>(honest_, batch, memory, make_());
  }

 private:
  std::function<Spoiling()> make_;
  Honest honest_;
  BackendInfo info_;
};

/// A copy of an array that stays as it was behind the first `sound` of its plan's runs.
template <class T>
struct Frozen {
  std::vector<T> values;
  int runs = 0;

  void take(const T* from, std::int64_t count, int sound) {
    if (runs++ < sound) values.assign(from, from + count);
  }
};

/// Logits of an earlier run of the plan.
Spoiling stale_logits(int sound) {
  struct State {
    Frozen<float> logits;
    IndexScores scores;
    const float* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->scores = *batch.index_scores;
                state->written = state->scores.logits;
                state->logits.values.resize(
                    static_cast<std::size_t>(state->scores.tokens * state->scores.columns));
                state->scores.logits = state->logits.values.data();
                batch.index_scores = &state->scores;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->logits.take(state->written, std::ssize(state->logits.values), sound);
              }};
}

/// Lists of an earlier run of the plan.
Spoiling stale_lists(int sound) {
  struct State {
    Frozen<std::int32_t> lists;
    DeviceBatch device;
    const std::int32_t* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->device = *batch.device_batch;
                state->written = state->device.topk_indices;
                state->lists.values.resize(batch.chosen->indices.size());
                state->device.topk_indices = state->lists.values.data();
                batch.device_batch = &state->device;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->lists.take(state->written, std::ssize(state->lists.values), sound);
              }};
}

/// Scores of an earlier run, beside the lists of this one.
Spoiling stale_scores(int sound) {
  struct State {
    Frozen<float> scores;
    DeviceBatch device;
    const float* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->device = *batch.device_batch;
                state->written = state->device.topk_scores;
                state->scores.values.resize(batch.chosen->indices.size());
                state->device.topk_scores = state->scores.values.data();
                batch.device_batch = &state->device;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->scores.take(state->written, std::ssize(state->scores.values), sound);
              }};
}

/// Runs of a plan before its first timed sample, and some more.
constexpr int kBeforeSamples = 24;

class PipelineRun : public testing::Test {
 protected:
  PipelineRun() {
    devices_.push_back(make_cpu_device(1));
    run_.scenario.name = "pipeline";
    Case c = small_plain_decode();
    c.kv_cache.page_size = 16;
    c.layer.selection = {.topk = 16, .index_heads = 4};
    for (std::int64_t i = 0; i < std::ssize(c.requests); ++i) {
      c.requests[static_cast<std::size_t>(i)].kv_len = i == 1 ? 9 : 300 + i;
    }
    run_.scenario.cases = {c};
    run_.scenario.verify.rows = 64;
    MeasureConfig& measure = run_.scenario.measure;
    measure.step = {StepPart::kPipeline};
    measure.cache = {CacheState::kWarm};
    measure.min_rounds = measure.max_rounds = 12;
    measure.block_s = 0;
    measure.min_block_samples = measure.max_block_samples = 4;
    run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
    run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
    run_.registry.add([] { return std::make_unique<cpu_flash::CpuFlashBackend>(); });
    run_.registry.add([] { return std::make_unique<torch_native::TorchNativeBackend>(); });
  }
  std::vector<Record> records() {
    add_pipelines(run_);
    run_.plan = plan_run(run_.scenario, run_.registry, run_.filter);
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(run_.scenario, run_.plan, executor, {}).records;
  }
  /// Of the one pipeline that `name` names.
  Record record_of(const std::string& name) {
    add_pipeline(run_.registry, name);
    run_.filter.backends = {name};
    const std::vector<Record> all = records();
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }
  template <class Honest>
  std::string reason_of(const std::string& name, std::function<Spoiling()> make) {
    run_.registry.add([=] { return std::make_unique<SpoiltStage<Honest>>(make); });
    const Record r = record_of(name);
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect) << r.reason();
    return r.reason();
  }

  Devices devices_;
  PlannedRun run_;
};

TEST_F(PipelineRun, times_and_checks_every_pipeline_of_the_backends) {
  const std::vector<Record> all = records();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].backend, "indexer+topk+cpu_flash");
  EXPECT_EQ(all[1].backend, "indexer+topk+torch_native");
  for (const Record& r : all) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    EXPECT_EQ(r.step, StepPart::kPipeline);
    EXPECT_TRUE(r.is_timed());
    EXPECT_GT(r.samples_checked, 0);
    EXPECT_GT(r.error.rows, 0) << "attention is compared";
    EXPECT_GT(r.slots_checked, 0) << "and logits and lists";
    EXPECT_THAT(r.repro, AllOf(HasSubstr("--step pipeline"), HasSubstr("indexer+topk+")));
  }
}

TEST_F(PipelineRun, takes_the_names_of_members_and_of_whole_pipelines) {
  run_.filter.backends = {"torch_native"};
  EXPECT_EQ(records().size(), 1u) << "an indexer and a selector are taken from the others";
  EXPECT_THAT(run_.filter.pipelines, ElementsAre("indexer+topk+torch_native"));
  run_.filter = {};
  EXPECT_EQ(record_of("indexer+topk+cpu_flash").verdict(), Verdict::kPassed);
  EXPECT_THAT(run_.filter.pipelines, ElementsAre());
}

TEST_F(PipelineRun, stands_beside_its_stages) {
  run_.scenario.measure.step = {StepPart::kIndexer, StepPart::kAttention, StepPart::kPipeline};
  run_.filter.backends = {"indexer", "topk", "cpu_flash"};
  std::vector<std::string> rows;
  for (const Record& r : records()) {
    if (r.is_timed()) rows.push_back(r.backend + std::string(step_suffix(r.step)));
  }
  EXPECT_THAT(rows, ElementsAre("indexer indexer", "cpu_flash", "indexer+topk+cpu_flash pipeline"));
}

TEST_F(PipelineRun, takes_units_of_each_kv_head_by_the_maxima_of_their_keys) {
  Case& c = run_.scenario.cases[0];
  c.layer.selection = {.topk = 3,
                       .unit = 8,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kMax,
                       .index_heads = c.layer.heads_kv};
  for (const Record& r : records()) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
  }
  EXPECT_EQ(run_.filter.pipelines.size(), 2u);
  run_.filter = {};
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_lists(1); }),
      HasSubstr(" chosen keys of 30"));
}

TEST_F(PipelineRun, weighs_pages_by_the_scores_that_the_selector_has_just_left) {
  Case& c = run_.scenario.cases[0];
  c.layer.selection = {.topk = 3,
                       .unit = 16,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kHead,
                       .index_heads = c.layer.heads_q,
                       .window = 20,
                       .fuses_window = true,
                       .softmax = SelectionSoftmax::kUnits,
                       .stale = 0.2};
  EXPECT_EQ(record_of("indexer+topk+cpu_flash").verdict(), Verdict::kPassed);
  EXPECT_THAT(record_of("indexer+topk+torch_native").reason(),
              HasSubstr("no hierarchical sparse attention"));
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_scores(1); }),
      HasSubstr(" chosen keys of 30"));
}

TEST_F(PipelineRun, says_that_there_is_no_pipeline_of_the_backends) {
  run_.registry = {};
  run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
  EXPECT_THROW(add_pipelines(run_), ConfigError);
}

TEST_F(PipelineRun, refuses_what_has_no_pipeline) {
  run_.scenario.cases[0].layer.selection.unit = 4;
  EXPECT_THAT(record_of("indexer+topk+cpu_flash").reason(),
              StartsWith("in a pipeline nothing adds the keys behind complete pools"));
}

TEST_F(PipelineRun, blames_an_indexer_whose_logits_are_off) {
  const auto make = [] {
    return Spoiling{.after = [](const ForwardBatch& batch) {
      const IndexOutput& logits = batch.index_outputs->arrays.front();
      auto* const first = static_cast<float*>(static_cast<void*>(logits.data));
      for (std::int64_t i = 0; i < logits.shape[0] * logits.shape[2]; ++i) first[i] *= 1.01f;
    }};
  };
  EXPECT_THAT(reason_of<indexer::HostIndexer>("spoilt+topk+cpu_flash", make),
              AllOf(StartsWith("row "), HasSubstr(" scores key ")));
}

TEST_F(PipelineRun, blames_a_selector_that_reads_logits_of_an_earlier_run) {
  EXPECT_THAT(
      reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash", [] { return stale_logits(1); }),
      HasSubstr(" and takes key "));
}

TEST_F(PipelineRun, blames_attention_over_lists_of_an_earlier_run) {
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_lists(1); }),
      HasSubstr("16 chosen keys of 30"));
}

TEST_F(PipelineRun, blames_stale_logits_of_timed_samples_alone) {
  const std::string reason = reason_of<topk::HostSelector>(
      "indexer+spoilt+cpu_flash", [] { return stale_logits(kBeforeSamples); });
  EXPECT_THAT(reason, AllOf(HasSubstr(" and takes key "), HasSubstr("timed")));
}

TEST_F(PipelineRun, blames_stale_lists_of_timed_samples_alone) {
  const std::string reason = reason_of<cpu_flash::CpuFlashBackend>(
      "indexer+topk+spoilt", [] { return stale_lists(kBeforeSamples); });
  EXPECT_THAT(reason, AllOf(HasSubstr("in timed sample"), HasSubstr("16 chosen keys of 30")));
}

TEST_F(PipelineRun, shows_attention_nothing_of_the_lists_before_the_selector_ran) {
  const auto make = [] {
    return Spoiling{.when_planned = [](ForwardBatch& batch) {
      EXPECT_THAT(batch.chosen->indices, testing::Each(-1));
      EXPECT_THAT(batch.chosen->lengths, testing::Contains(16));
      EXPECT_EQ(batch.index_scores, nullptr);
      EXPECT_EQ(batch.problem->step, StepPart::kAttention);
    }};
  };
  run_.registry.add(
      [=] { return std::make_unique<SpoiltStage<cpu_flash::CpuFlashBackend>>(make); });
  EXPECT_EQ(record_of("indexer+topk+spoilt").verdict(), Verdict::kPassed);
}

}  // namespace
}  // namespace attnbench
