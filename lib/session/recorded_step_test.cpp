// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/recorded_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

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
