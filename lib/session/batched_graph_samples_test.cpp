// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/batched_graph_samples.h"
#include "lib/backend/testing/stub_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "lib/base/error.h"
#include "lib/device/testing/changed_processor.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_session.h"

namespace attnbench {
namespace {

/// A processor that records: a replay runs the work again. It allocates no more than it is told.
class RecordingDevice final : public ChangedProcessor {
 public:
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    ++allocations;
    if (allocations > most_allocations) {
      throw EnvironmentError("no room for " + std::string(what));
    }
    return ChangedProcessor::allocate(bytes, what);
  }
  void flush_cache(Stream&) override { ++flushes; }
  void touch(Stream&, std::span<const std::span<const std::byte>>) override {}
  [[nodiscard]] std::unique_ptr<Recording> record(Stream& stream, const Work& work) override {
    class Again final : public Recording {
     public:
      explicit Again(Work work) : work_(std::move(work)) {}
      void replay(Stream& on) override { work_(on); }

     private:
      Work work_;
    };
    work(stream);
    return std::make_unique<Again>(work);
  }

  int allocations = 0;
  int most_allocations = 1 << 20;
  int flushes = 0;
};

/// What a forward was given.
struct Seen {
  const std::byte* q;
  const std::byte* out;
  const std::byte* k;
  const std::byte* plan;
};

/// Notes what each run of its plans works on.
class Scribe final : public StubBackend {
 public:
  explicit Scribe(std::vector<Seen>& seen) : StubBackend("scribe"), seen_(&seen) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const Seen one{batch.tensors.q.data, batch.tensors.out.data, batch.token_to_kv_pool->k,
                   memory.reserve(64)};
    return std::make_unique<FunctionPlan>([this, one](Stream&) { seen_->push_back(one); });
  }

 private:
  std::vector<Seen>* seen_;
};

class BatchedGraphSamplesTest : public testing::Test {
 protected:
  BatchedGraphSamplesTest() {
    registry_.add([this] { return std::make_unique<Scribe>(seen_); });
    static_cast<void>(on_device_->fill_for_timing());
  }
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, BatchedGraph graph) {
    LocalSession session(*registry_.find("scribe"), case_, [this](KvLayout) { return on_device_; });
    EXPECT_TRUE(session.supports().support);
    return session.batched_samples(cache, graph);
  }
  void warm_up(SampleSource& samples) {
    WarmUp first;
    samples.warm_up(first, 1, 1, never_);
    seen_.clear();
    device_.flushes = 0;
  }
  [[nodiscard]] static std::set<const std::byte*> distinct(const std::vector<Seen>& seen,
                                                           const std::byte* Seen::*what) {
    std::set<const std::byte*> all;
    for (const Seen& each : seen) all.insert(each.*what);
    return all;
  }

  Case case_ = small_plain_decode();
  RecordingDevice device_;
  std::shared_ptr<CaseOnDevice> on_device_ =
      std::make_shared<CaseOnDevice>(case_, device_, KvLayout::kNhd, 1);
  std::vector<Seen> seen_;
  Registry registry_;
  SampleSource::Stop never_ = [] { return false; };
};

TEST_F(BatchedGraphSamplesTest,
       take_the_sets_in_turn_each_with_inputs_outputs_and_plan_of_its_own) {
  const auto cold = samples(CacheState::kCold, {20, 6});
  warm_up(*cold);
  SampleBlock block;
  cold->take(block, 1, 1, never_);
  ASSERT_EQ(seen_.size(), 20u);
  EXPECT_EQ(device_.flushes, 1) << "before the graph, never between its forwards";
  const std::vector<Seen> first(seen_.begin(), seen_.begin() + 6);
  for (const auto what : {&Seen::q, &Seen::out, &Seen::k, &Seen::plan}) {
    EXPECT_EQ(distinct(first, what).size(), 6u);
    EXPECT_EQ(distinct(seen_, what).size(), 6u);
  }
  for (std::size_t i = 6; i < seen_.size(); ++i) EXPECT_EQ(seen_[i].q, seen_[i - 6].q);
}

TEST_F(BatchedGraphSamplesTest, stay_on_the_timed_inputs_when_warm) {
  const auto warm = samples(CacheState::kWarm, {20, 1});
  warm_up(*warm);
  SampleBlock block;
  warm->take(block, 1, 1, never_);
  ASSERT_EQ(seen_.size(), 40u) << "an untimed graph before the timed one";
  EXPECT_EQ(distinct(seen_, &Seen::q),
            std::set<const std::byte*>{on_device_->filled_fixture().tensors().q.data});
  EXPECT_EQ(device_.flushes, 0);
}

TEST_F(BatchedGraphSamplesTest, hold_the_same_contents_in_every_set) {
  EXPECT_EQ(&on_device_->input_set(0), &on_device_->filled_fixture());
  warm_up(*samples(CacheState::kCold, {20, 4}));
  EXPECT_EQ(on_device_->input_set(3).hash(), on_device_->fill_for_timing());
}

TEST_F(BatchedGraphSamplesTest, share_their_sets_with_the_next_backend) {
  const Fixture* const set = &on_device_->input_set(2);
  warm_up(*samples(CacheState::kCold, {20, 3}));
  EXPECT_EQ(&on_device_->input_set(2), set);
}

TEST_F(BatchedGraphSamplesTest, refuse_rather_than_rotate_over_fewer_sets) {
  EXPECT_THROW(warm_up(*samples(CacheState::kCold, {5000, 5000})), EnvironmentError);
  for (const int room : {40, 41, 42, 43, 44, 45, 46, 47}) {  // the last one is for any of a set's
    device_.most_allocations = device_.allocations + room;
    const auto cold = samples(CacheState::kCold, {20, 20});
    EXPECT_THROW(warm_up(*cold), EnvironmentError);
    EXPECT_TRUE(seen_.empty());
  }
}

TEST_F(BatchedGraphSamplesTest, try_in_vain_for_memory_once_a_case) {
  device_.most_allocations = device_.allocations + 40;
  EXPECT_THROW(static_cast<void>(on_device_->input_set(20)), EnvironmentError);
  const int tried = device_.allocations;
  EXPECT_THROW(warm_up(*samples(CacheState::kCold, {20, 20})), EnvironmentError);
  EXPECT_EQ(device_.allocations, tried);
}

}  // namespace
}  // namespace attnbench
