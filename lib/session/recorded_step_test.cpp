// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/recorded_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/indexer/indexer.h"
#include "backends/topk/topk.h"
#include "lib/backend/pipeline/pipeline_backend.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/batch/graph_padding.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

/// Keeps what it was planned for, and updated to.
class Witness final : public StubBackend {
 public:
  Witness() : StubBackend("witness") { info_.padding_seq_len = 1; }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    seen.push_back(batch);
    problems.push_back(*batch.problem);
    return std::make_unique<Updated>(*this);
  }

  std::vector<ForwardBatch> seen;
  std::vector<Problem> problems;
  bool takes_updates = true;

 private:
  class Updated final : public Plan {
   public:
    explicit Updated(Witness& witness) : witness_(witness) {}
    void run(Stream&) override {}
    [[nodiscard]] bool update(const ForwardBatch& batch, Stream&) override {
      witness_.seen.push_back(batch);
      return witness_.takes_updates;
    }

   private:
    Witness& witness_;
  };
};

Case padded_decode() {
  Case c = small_plain_decode();
  c.graph_bucket = static_cast<std::int64_t>(c.requests.size()) + 3;
  return c;
}

TEST(RecordedStep, is_recorded_on_padding_and_updated_to_the_step_filled_up) {
  const auto device = make_cpu_device(1);
  const Case c = padded_decode();
  const Fixture fixture(c, *device);
  Witness backend;
  RecordedStep step(backend, fixture, *device);
  const auto stream = device->make_stream();
  ASSERT_TRUE(step.update(*stream));

  const auto requests = static_cast<std::int64_t>(c.requests.size());
  ASSERT_EQ(backend.seen.size(), 2u);
  EXPECT_TRUE(backend.problems[0].recorded);
  for (const ForwardBatch& batch : backend.seen) {
    EXPECT_EQ(batch.batch_size, c.graph_bucket);
    EXPECT_EQ(batch.tensors.q.shape[0], c.graph_bucket);
    EXPECT_EQ(batch.tensors.out.shape[0], c.graph_bucket);
    EXPECT_EQ(batch.tensors.out.data, fixture.tensors().out.data);
    ASSERT_NE(batch.device_batch, nullptr);
    EXPECT_EQ(batch.device_batch->kv_lens[c.graph_bucket - 1], 1);
  }
  EXPECT_TRUE(is_padding(backend.seen[0], 0));
  const ForwardBatch& updated = backend.seen[1];
  EXPECT_FALSE(is_padding(updated, requests - 1));
  EXPECT_TRUE(is_padding(updated, requests));
  EXPECT_EQ(updated.kv_len(0), fixture.batch().kv_len(0));
}

/// A pipeline of witnesses, filled up by three requests.
class RecordedPipeline : public testing::Test {
 protected:
  RecordedPipeline() {
    case_.layer.selection = {.topk = 3, .unit = 4, .tail = SelectionTail::kOpen, .index_heads = 2};
    case_ = with_step(case_, StepPart::kPipeline);
    std::vector<std::unique_ptr<Backend>> members;
    for (Witness*& each : witnesses_) {
      members.push_back(std::make_unique<Witness>());
      each = static_cast<Witness*>(members.back().get());
    }
    const BackendInfo infos[] = {members[0]->info(), members[1]->info(), members[2]->info()};
    backend_ =
        std::make_unique<PipelineBackend>(pipeline_info("pipeline", infos), std::move(members));
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  Case case_ = padded_decode();
  std::array<Witness*, 3> witnesses_{};
  std::unique_ptr<Backend> backend_;
};

TEST_F(RecordedPipeline, brings_each_stage_from_padding_to_the_step) {
  const Fixture fixture(case_, *device_);
  RecordedStep step(*backend_, fixture, *device_);
  const auto stream = device_->make_stream();
  ASSERT_TRUE(step.update(*stream));
  for (const Witness* each : witnesses_) {
    ASSERT_EQ(each->seen.size(), 2u);
    EXPECT_TRUE(each->problems[0].recorded);
    EXPECT_EQ(each->problems[0].limits.requests, case_.graph_bucket);
    EXPECT_TRUE(is_padding(each->seen[0], 0));
    EXPECT_FALSE(is_padding(each->seen[1], 0));
    EXPECT_EQ(each->seen[1].kv_len(0), fixture.batch().kv_len(0));
    EXPECT_EQ(each->seen[1].q_tokens(), case_.graph_bucket);
  }
  const std::int32_t* const lists = fixture.batch().index_outputs->arrays[1].data;
  for (const ForwardBatch& batch : witnesses_[2]->seen) {
    EXPECT_EQ(batch.device_batch->topk_indices, lists) << "at one address in all steps";
    EXPECT_TRUE(batch.device_batch->lists_stay);
  }
  EXPECT_EQ(witnesses_[2]->seen[0].chosen->lengths[0], 0) << "padding has no list";
  EXPECT_GT(witnesses_[2]->seen[1].chosen->lengths[0], 0);
}

TEST_F(RecordedPipeline, has_logits_and_lists_of_the_whole_bucket) {
  const Fixture fixture(case_, *device_);
  const PipelineParts own = fixture.padded_pipeline();
  EXPECT_EQ(own.indexer.tokens, case_.graph_bucket);
  EXPECT_EQ(own.scores.tokens, case_.graph_bucket);
  const ForwardBatch& eager = fixture.batch();
  EXPECT_EQ(eager.index_scores->tokens, std::ssize(case_.requests));
  EXPECT_EQ(eager.index_scores->logits, own.scores.logits);
  for (std::size_t i = 0; i < own.outputs.arrays.size(); ++i) {
    EXPECT_EQ(own.outputs.arrays[i].shape[0], case_.graph_bucket);
    EXPECT_EQ(eager.index_outputs->arrays[i].shape[0], std::ssize(case_.requests));
  }
  for (std::int64_t token = std::ssize(case_.requests); token < case_.graph_bucket; ++token) {
    EXPECT_EQ(own.scores.row_lens[token], 0);
    EXPECT_EQ(own.scores.tails[token], -1);
  }
}

TEST_F(RecordedPipeline, cannot_be_updated_where_one_of_its_stages_cannot) {
  const Fixture fixture(case_, *device_);
  const auto stream = device_->make_stream();
  for (Witness* each : witnesses_) {
    each->takes_updates = false;
    RecordedStep step(*backend_, fixture, *device_);
    EXPECT_FALSE(step.update(*stream));
    each->takes_updates = true;
  }
}

TEST_F(RecordedPipeline, is_recorded_on_the_step_itself_unless_all_stages_say_that_they_follow) {
  BackendInfo info = backend_->info();
  EXPECT_FALSE(is_recorded_on_padding(case_, info));
  info.updates_in_pipelines = true;
  EXPECT_TRUE(is_recorded_on_padding(case_, info));
  EXPECT_TRUE(is_recorded_on_padding(padded_decode(), BackendInfo{})) << "attention alone";
  EXPECT_FALSE(is_recorded_on_padding(with_step(case_, StepPart::kSelect), info));
}

/// A member whose plans are updated by planning again, as no backend of a CPU's does.
template <class Honest>
class PlannedAgain final : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return honest_.info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<Again>(honest_, batch, memory);
  }

 private:
  class Again final : public Plan {
   public:
    Again(Backend& honest, const ForwardBatch& batch, PlanMemory& memory)
        : honest_(&honest), memory_(&memory), plan_(honest.plan(batch, memory)) {}
    void run(Stream& stream) override { plan_->run(stream); }
    [[nodiscard]] bool update(const ForwardBatch& batch, Stream&) override {
      plan_ = honest_->plan(batch, *memory_);
      return true;
    }

   private:
    Backend* honest_;
    PlanMemory* memory_;
    std::unique_ptr<Plan> plan_;
  };

  Honest honest_;
};

TEST_F(RecordedPipeline, computes_the_step_to_which_it_was_updated) {
  std::vector<std::unique_ptr<Backend>> members;
  members.push_back(std::make_unique<PlannedAgain<indexer::HostIndexer>>());
  members.push_back(std::make_unique<PlannedAgain<topk::HostSelector>>());
  members.push_back(std::make_unique<PlannedAgain<cpu_flash::CpuFlashBackend>>());
  PipelineBackend backend(BackendInfo{.name = "again"}, std::move(members));
  Fixture fixture(case_, *device_);
  const auto stream = device_->make_stream();
  fixture.fill(Fill::kNormal);
  PlanMemory memory(*device_);
  backend.plan(fixture.batch(), memory)->run(*stream);
  ASSERT_EQ(fixture.fault_of_arrays(), "");
  const TensorView out = fixture.tensors().out;
  const auto bytes = [&] {
    return std::vector<std::byte>(out.data, out.data + out.size() * size_bytes(out.dtype));
  };
  const std::vector<std::byte> eager = bytes();

  RecordedStep step(backend, fixture, *device_);
  fixture.poison_outputs();
  step.plan().run(*stream);
  EXPECT_NE(fixture.fault_of_arrays(), "") << "of padding alone";
  ASSERT_TRUE(step.update(*stream));
  fixture.poison_outputs();
  step.plan().run(*stream);
  EXPECT_EQ(fixture.fault_of_arrays(), "");
  EXPECT_EQ(bytes(), eager);
  EXPECT_TRUE(fixture.damaged_guards().empty());
  EXPECT_TRUE(fixture.changed_inputs().empty());
}

TEST(RecordedStep, says_when_its_plan_cannot_be_updated) {
  const auto device = make_cpu_device(1);
  const Case c = padded_decode();
  const Fixture fixture(c, *device);
  Witness backend;
  backend.takes_updates = false;
  RecordedStep step(backend, fixture, *device);
  const auto stream = device->make_stream();
  EXPECT_FALSE(step.update(*stream));
  EXPECT_THROW(update_of(step)(*stream), std::runtime_error);
}

}  // namespace
}  // namespace attnbench
