// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What a run keeps when a backend, a device or attnbench itself fails, or when it is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/device/cuda/cuda_error.h"
#include "lib/device/testing/changed_processor.h"
#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

TEST_F(Driver, goes_on_when_a_backend_throws) {
  add("plan", Habit::kThrowsInPlan);
  add("timed", Habit::kThrowsWhenTimed);
  add("right", Habit::kRight);
  scenario_.verify.enabled = false;  // so that the throw happens while timing
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kCrashed);
  EXPECT_EQ(result.records[0].reason(), "plan: out of ideas");
  EXPECT_EQ(result.records[1].verdict(), Verdict::kCrashed);
  EXPECT_THAT(result.records[1].reason(), HasSubstr("kernel launch failed"));
  EXPECT_FALSE(result.records[1].is_timed());
  EXPECT_EQ(result.records[1].timing.status, MeasureStatus::kFailed);
  EXPECT_EQ(result.records[2].verdict(), Verdict::kNotVerified);
  EXPECT_TRUE(result.records[2].is_timed());
}

TEST_F(Driver, refuses_what_no_memory_holds_before_it_computes_anything) {
  add("right", Habit::kRight);
  Case& c = scenario_.cases.front();  // 1 PB: its reference alone would take days
  c.layer.heads_q = c.layer.heads_kv = 1024;
  c.requests.resize(1);
  c.requests[0].kv_len = std::int64_t{1} << 30;
  const RunResult result = run();
  EXPECT_EQ(result.records.at(0).verdict(), Verdict::kSkipped);
  EXPECT_THAT(result.records.at(0).reason(), HasSubstr("GB of host memory (page tables"));
  EXPECT_EQ(result.spent.reference, 0);
}

TEST_F(Driver, keeps_a_wrong_verdict_though_a_timed_forward_throws) {
  scenario_.verify.fills = {Fill::kNormal};  // so that verification does not meet the throw
  add("both", Habit::kWrongAndThrows);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_EQ(r.timing.status, MeasureStatus::kFailed);
  EXPECT_FALSE(r.is_timed());
}

TEST_F(Driver, blames_every_backend_that_writes_out_of_bounds_and_no_other) {
  add("first", Habit::kWritesTooFar);
  add("second", Habit::kWritesTooFar);
  add("right", Habit::kRight);
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 3u);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(result.records[i].verdict(), Verdict::kIncorrect);
    EXPECT_THAT(result.records[i].reason(),
                HasSubstr("guard bytes of 'out' changed on fill normal"));
  }
  EXPECT_EQ(result.records[2].verdict(), Verdict::kPassed) << result.records[2].reason();
}

TEST_F(Driver, calls_a_throw_while_verifying_a_crash) {
  add("timed", Habit::kThrowsWhenTimed);
  EXPECT_EQ(run().records.at(0).verdict(), Verdict::kCrashed);
}

TEST_F(Driver, lets_an_error_of_its_own_cost_one_case_only) {
  add("right", Habit::kRight);
  scenario_.cases.resize(3, scenario_.cases.front());
  scenario_.cases[1].id = "bad";
  scenario_.cases[1].kv_cache.v_scale = 1e-40f;  // the reference is not finite
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 3u);
  for (const std::size_t i : {0u, 2u}) {
    EXPECT_EQ(result.records[i].verdict(), Verdict::kPassed) << result.records[i].reason();
    EXPECT_TRUE(result.records[i].is_timed());
    EXPECT_EQ(result.records[i].harness_error(), HarnessError::kNone);
  }
  EXPECT_EQ(result.records[1].verdict(), Verdict::kSkipped);
  EXPECT_EQ(result.records[1].harness_error(), HarnessError::kDefect);
  EXPECT_EQ(result.records[1].reason(), "attnbench itself failed: the reference is not finite");
}

TEST_F(Driver, keeps_its_results_whatever_is_thrown_while_a_case_is_worked_on) {
  add("right", Habit::kRight);
  scenario_.cases.resize(2, scenario_.cases.front());
  scenario_.cases[1].id = "second";
  const auto record_when_thrown = [&](const auto& thrown, const std::string& in_step) {
    bool second = false;
    hooks_.case_started = [&](const Case& c, const Cost&) { second = c.id == "second"; };
    hooks_.progress = [&](const std::string& line, double) {
      if (second && line.find(in_step) != std::string::npos) throw thrown;
    };
    const RunResult result = run();
    EXPECT_EQ(result.records.size(), 2u);
    EXPECT_EQ(result.records.at(0).verdict(), Verdict::kPassed) << result.records[0].reason();
    return result.records.at(1);
  };
  for (const char* step : {"float64 reference", "verifying", "round"}) {
    const Record r = record_when_thrown(7, step);
    EXPECT_EQ(r.harness_error(), HarnessError::kDefect) << step;
    EXPECT_EQ(r.reason(), "attnbench itself failed: an exception without a message") << step;
    EXPECT_EQ(r.verdict(), Verdict::kSkipped) << step;
  }
  const Record no_memory = record_when_thrown(std::bad_alloc(), "float64 reference");
  EXPECT_EQ(no_memory.harness_error(), HarnessError::kEnvironment);
  EXPECT_EQ(no_memory.reason(), "out of memory");
}

TEST_F(Driver, keeps_a_wrong_verdict_though_it_fails_itself_later) {
  add("wrong", Habit::kWrong);
  hooks_.progress = [](const std::string& line, double) {
    if (line.find("round") != std::string::npos) throw std::logic_error("lost count");
  };
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_EQ(r.harness_error(), HarnessError::kDefect);
}

TEST_F(Driver, keeps_a_row_for_every_cell_that_a_stop_left_out) {
  add("right", Habit::kRight);
  scenario_.cases.push_back(small_plain_decode());
  scenario_.cases.back().id = "second";
  bool stop = false;
  hooks_.case_finished = [&](const Case&) { stop = true; };
  hooks_.stop_requested = [&] { return stop; };
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_TRUE(result.records[0].is_timed());
  EXPECT_EQ(result.records[1].verdict(), Verdict::kSkipped);
  EXPECT_EQ(result.records[1].reason(), "interrupted");
  EXPECT_TRUE(result.interrupted);
}

TEST_F(Driver, keeps_a_wrong_verdict_though_stopped_before_timing) {
  add("wrong", Habit::kWrong);
  bool stop = false;
  hooks_.progress = [&](const std::string& line, double) {
    stop = stop || line.find("verifying") != std::string::npos;
  };
  hooks_.stop_requested = [&] { return stop; };
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_FALSE(r.is_timed());
  EXPECT_EQ(r.timing.status, MeasureStatus::kInterrupted);
}

/// A processor that, like a GPU after an illegal access, does nothing more once it is broken.
class Breaking : public ChangedProcessor {
 public:
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    if (broken) throw CudaError("cudaMalloc", "cudaErrorIllegalAddress", "an illegal access");
    return ChangedProcessor::allocate(bytes, what);
  }

  bool broken = false;
};

TEST_F(Driver, skips_what_is_left_for_a_device_that_is_lost) {
  add("right", Habit::kRight);
  for (const char* id : {"second", "third"}) {
    scenario_.cases.push_back(small_plain_decode());
    scenario_.cases.back().id = id;
  }
  auto device = std::make_unique<Breaking>();
  hooks_.case_started = [&, breaking = device.get()](const Case& c, const Cost&) {
    breaking->broken = c.id == "second";  // the third case must not even try
  };
  devices_.front() = std::move(device);
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kPassed);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(result.records[i].verdict(), Verdict::kSkipped);
    EXPECT_THAT(result.records[i].reason(), HasSubstr("the GPU was lost: cudaMalloc"));
  }
}

}  // namespace
}  // namespace attnbench
