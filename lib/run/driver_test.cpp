// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/backend/numerics.h"
#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

TEST_F(Driver, times_and_passes_a_right_backend) {
  add("right", Habit::kRight);
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 1u);
  const Record& r = result.records[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_TRUE(r.is_timed());
  EXPECT_GT(r.timing.median_us, 0);
  EXPECT_EQ(r.timing.rounds, 3);
  EXPECT_GT(r.gb_per_s(), 0);
  EXPECT_GT(r.roofline, 0);
  EXPECT_EQ(r.fixture_hash.size(), 16u);
  EXPECT_EQ(r.backend, "right");
  EXPECT_EQ(r.requests, static_cast<std::int64_t>(scenario_.cases[0].requests.size()));
  EXPECT_GT(result.ceilings.read_bytes_per_s, 0);
  EXPECT_EQ(r.device, devices_.front()->info().name);
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].device.name, r.device);
  EXPECT_FALSE(result.interrupted);
}

TEST_F(Driver, measures_a_ceiling_of_an_earlier_run_again_before_it_calls_a_cell_impossible) {
  const std::filesystem::path folder = testing::TempDir() + "ceilings_of_an_earlier_run";
  kept_ = KeptCeilings({.folder = folder, .machine = "this"});
  const Ceilings too_low{.read_bytes_per_s = 1, .copy_bytes_per_s = 1, .flop_per_s = 1};
  kept_.keep(devices_.front()->info(), too_low);
  add("right", Habit::kRight);
  add("another", Habit::kRight);
  scenario_.measure.cache = {CacheState::kCold};
  ceilings_ = Ceilings{.read_bytes_per_s = 1e15, .copy_bytes_per_s = 1e15, .flop_per_s = 1e15};
  std::string shown;
  hooks_.started = [&](const RunResult& header) { shown = header.devices.at(0).ceilings_utc; };
  const RunResult result = run();
  for (const Record& record : result.records) {
    EXPECT_FALSE(record.is_impossible()) << record.reason();
    EXPECT_LT(record.roofline, 1);
  }
  EXPECT_NE(shown, "") << "the ceilings were an earlier run's";
  EXPECT_EQ(result.devices.at(0).ceilings_utc, "") << "those in the end are this run's";
  EXPECT_EQ(result.ceilings.read_bytes_per_s, 1e15);
  EXPECT_EQ(kept_.find(devices_.front()->info()).value().ceilings.flop_per_s, 1e15);
  // Where they are as low when measured now, the cell is impossible.
  kept_.keep(devices_.front()->info(), too_low);
  ceilings_ = too_low;
  EXPECT_TRUE(run().records.at(0).is_impossible());
  std::filesystem::remove_all(folder);
}

TEST_F(Driver, measures_its_own_ceilings_again_before_it_calls_a_cell_impossible) {
  add("right", Habit::kRight);
  scenario_.measure.cache = {CacheState::kCold};
  ceilings_ = Ceilings{.read_bytes_per_s = 1, .copy_bytes_per_s = 1, .flop_per_s = 1};
  hooks_.started = [&](const RunResult&) {  // what disturbed the machine has ended
    ceilings_ = Ceilings{.read_bytes_per_s = 1e15, .copy_bytes_per_s = 1e15, .flop_per_s = 1e15};
  };
  const RunResult result = run();
  EXPECT_FALSE(result.records.at(0).is_impossible()) << result.records.at(0).reason();
  EXPECT_EQ(result.ceilings.read_bytes_per_s, 1e15);
}

TEST_F(Driver, says_what_all_of_its_time_went_to) {
  add("right", Habit::kRight);
  const RunResult result = run();
  EXPECT_NEAR(sum_of_parts(result.spent), result.wall_s, 1e-6);
  for (const double part : {result.spent.building, result.spent.reference, result.spent.first_use,
                            result.spent.verifying, result.spent.planning, result.spent.samples,
                            result.spent.around_samples}) {
    EXPECT_GT(part, 0);
  }
}

TEST_F(Driver, times_a_wrong_backend_but_lets_it_claim_nothing) {
  add("wrong", Habit::kWrong);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_FALSE(r.reason().empty());
  EXPECT_TRUE(r.is_timed());
  EXPECT_EQ(r.gb_per_s(), 0);
  EXPECT_EQ(r.roofline, 0);
}

TEST_F(Driver, calls_it_impossible_to_beat_the_memory_from_outside_a_cache) {
  add("right", Habit::kRight);
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm, CacheState::kServing};
  ceilings_ = Ceilings{.read_bytes_per_s = 1, .copy_bytes_per_s = 1, .flop_per_s = 1e30};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_TRUE(result.records[0].is_impossible());
  EXPECT_THAT(result.records[0].reason(), HasSubstr("GB/s from memory is above 1.02 x"));
  EXPECT_EQ(result.records[0].gb_per_s(), 0);
  EXPECT_FALSE(result.records[1].is_impossible()) << "warm: data may come from a cache";
  EXPECT_TRUE(result.records[2].is_impossible()) << "serving: K and V come from memory";
}

TEST_F(Driver, calls_it_impossible_to_beat_the_arithmetic_in_any_cache_state) {
  add("right", Habit::kRight);
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm};
  ceilings_ = Ceilings{.read_bytes_per_s = 1e30, .copy_bytes_per_s = 1e30, .flop_per_s = 1};
  for (const Record& r : run().records) {
    EXPECT_TRUE(r.is_impossible());
    EXPECT_THAT(r.reason(), HasSubstr("GFLOP/s is above 1.02 x"));
    EXPECT_EQ(r.tflop_per_s(), 0);
  }
}

TEST_F(Driver, says_of_a_mistrusted_cell_that_it_was_impossibly_fast_as_well) {
  class Vague : public Puppet {
   public:
    using Puppet::Puppet;
    [[nodiscard]] Numerics numerics(const Problem&) const override {
      return {.partial_out = DType::kE5M2, .partial_roundings = 8, .lse = false};
    }
  };
  registry_.add(
      [this] { return std::make_unique<Vague>("vague", Habit::kRight, scenario_.cases.front()); });
  ceilings_ = Ceilings{.read_bytes_per_s = 1e30, .copy_bytes_per_s = 1e30, .flop_per_s = 1};
  const RunResult result = run();
  const Record& r = result.records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kMistrusted);
  EXPECT_THAT(r.reason(), testing::AllOf(HasSubstr("zeros would pass: partial results"),
                                         HasSubstr("GFLOP/s is above 1.02 x")));
}

TEST_F(Driver, records_what_vllm_would_do_about_a_shared_prefix) {
  scenario_.cases.push_back(small_prefix_hits());
  add("refuses", Habit::kRefuses);
  const std::vector<Record> records = run().records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].use_cascade.answer, "-");
  EXPECT_EQ(records[0].use_cascade.reason, "no shared prefix");
  EXPECT_EQ(records[1].use_cascade.answer, "no");
  EXPECT_EQ(records[1].use_cascade.reason, "no whole page is common to all requests");
}

TEST_F(Driver, has_one_record_per_cell_in_backend_order) {
  add("a", Habit::kRight);
  add("b", Habit::kRight);
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm};
  std::vector<std::string> seen;
  hooks_.record = [&](const Record& r) {
    seen.push_back(r.backend + "/" + std::string(to_string(r.cache)));
  };
  EXPECT_EQ(run().records.size(), 4u);
  EXPECT_THAT(seen, testing::ElementsAre("a/cold", "a/warm", "b/cold", "b/warm"));
}

TEST_F(Driver, counts_what_fills_a_step_up_nowhere_but_as_such) {
  scenario_.cases = {small_chunked_mixed(), small_chunked_mixed()};
  scenario_.cases[1].padding = {.requests = 2, .tokens = 5};
  add("refuses", Habit::kRefuses);
  const std::vector<Record> records = run().records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].padding_requests, 0);
  EXPECT_EQ(records[0].padding_tokens, 0);
  EXPECT_EQ(records[1].padding_requests, 2);
  EXPECT_EQ(records[1].padding_tokens, 5);
  EXPECT_EQ(records[1].requests, records[0].requests);
  EXPECT_EQ(records[1].q_tokens, records[0].q_tokens);
  EXPECT_EQ(records[1].cost.bytes_unique, records[0].cost.bytes_unique);
  EXPECT_EQ(records[1].cost.flops, records[0].cost.flops);
}

TEST_F(Driver, runs_an_idle_case) {
  scenario_.cases = {small_idle()};
  add("right", Habit::kRight);
  EXPECT_EQ(run().records.size(), 1u);
}

}  // namespace
}  // namespace attnbench
