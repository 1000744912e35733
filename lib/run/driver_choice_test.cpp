// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Which backends a run takes, and in which layout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

TEST_F(Driver, gives_each_backend_the_layout_that_it_reads_best_and_all_the_same_contents) {
  for (const KvLayout layout : {KvLayout::kXPacked, KvLayout::kHnd, KvLayout::kXPacked}) {
    const std::string name = "reader_" + std::to_string(registry_.entries().size());
    registry_.add([this, name, layout] {
      auto puppet = std::make_unique<Puppet>(name, Habit::kRight, scenario_.cases.front());
      puppet->reads(layout);
      return puppet;
    });
  }
  add("right", Habit::kRight);
  std::set<std::string> hashes;
  std::vector<std::string> layouts;
  for (const Record& r : run().records) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    EXPECT_TRUE(r.is_timed());
    layouts.emplace_back(to_string(r.kv_cache.layout.value()));
    hashes.insert(r.fixture_hash);
  }
  EXPECT_EQ(layouts, (std::vector<std::string>{"x_packed", "HND", "x_packed", "NHD"}));
  EXPECT_EQ(hashes.size(), 1u);
}

TEST_F(Driver, refuses_a_backend_that_does_not_read_the_layout_that_is_asked_for) {
  scenario_.cases.front().kv_cache.layout = KvLayout::kXPacked;
  add("right", Habit::kRight);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kUnsupported);
  EXPECT_EQ(r.reason(), "reads no x_packed cache, but NHD, HND, combined");
  EXPECT_EQ(r.kv_cache.layout, KvLayout::kXPacked);
}

TEST_F(Driver, records_a_refusal_with_its_reason) {
  add("refuses", Habit::kRefuses);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kUnsupported);
  EXPECT_EQ(r.reason(), "does not feel like it");
  EXPECT_EQ(r.timing.status, MeasureStatus::kNotMeasured);
}

TEST_F(Driver, lists_an_absent_backend_only_when_asked_for) {
  add("right", Habit::kRight);
  BackendInfo info;
  info.name = "absent";
  registry_.add_absent(info, "built without nvcc");
  EXPECT_EQ(run().records.size(), 1u);
  filter_.backends = {"absent"};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kUnsupported);
  EXPECT_EQ(result.records[0].reason(), "built without nvcc");
}

TEST_F(Driver, says_that_a_backend_has_no_device_here) {
  registry_.add([this] {
    auto puppet = std::make_unique<Puppet>("on_gpu", Habit::kRight, scenario_.cases.front());
    puppet->moves_to(DeviceKind::kCuda);
    return puppet;
  });
  add("right", Habit::kRight);
  filter_.backends = {"on_gpu", "right"};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kUnsupported);
  EXPECT_EQ(result.records[0].reason(), "no device of its kind takes part");
  EXPECT_EQ(result.records[1].verdict(), Verdict::kPassed);
}

TEST_F(Driver, runs_the_host_beside_a_gpu_only_what_that_does_not_support) {
  Habit on_gpu = Habit::kRight;
  registry_.add([&, this] {
    auto puppet = std::make_unique<Puppet>("on_gpu", on_gpu, scenario_.cases.front());
    puppet->moves_to(DeviceKind::kCuda);
    return puppet;
  });
  add("right", Habit::kRight);
  std::vector<std::string> told;
  hooks_.started = [&](const RunResult& header) { told = header.cpu_fallbacks; };
  const RunResult supported = run();
  ASSERT_EQ(supported.records.size(), 1u);
  EXPECT_EQ(supported.records[0].backend, "on_gpu");
  EXPECT_EQ(told, std::vector<std::string>{"right"});
  on_gpu = Habit::kRefuses;
  const RunResult refused = run();
  ASSERT_EQ(refused.records.size(), 2u);
  EXPECT_EQ(refused.records[0].verdict(), Verdict::kUnsupported);
  EXPECT_EQ(refused.records[1].verdict(), Verdict::kPassed) << refused.records[1].reason();
}

TEST_F(Driver, refuses_an_unknown_backend_before_anything_runs) {
  add("cpu_flash", Habit::kRight);
  bool began = false;
  hooks_.started = [&](const RunResult&) { began = true; };
  filter_.backends = {"cpu_flsh"};
  const std::string error = error_of_run();
  EXPECT_THAT(error, HasSubstr("unknown backend 'cpu_flsh'"));
  EXPECT_THAT(error, HasSubstr("did you mean 'cpu_flash'?"));
  EXPECT_FALSE(began);
}

TEST_F(Driver, measures_no_graph_on_a_cpu) {
  add("right", Habit::kRight);
  scenario_.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  const RunResult result = run();
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_TRUE(result.records[0].is_timed());
  EXPECT_FALSE(result.records[1].is_timed());
  EXPECT_EQ(result.records[1].verdict(), Verdict::kUnsupported);
  EXPECT_EQ(result.records[1].reason(), "no CUDA graph on a CPU");
}

}  // namespace
}  // namespace attnbench
