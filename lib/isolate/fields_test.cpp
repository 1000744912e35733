// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/backend/backend_info.h"
#include "lib/base/dtype.h"
#include "lib/base/error.h"
#include "lib/session/session.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// There and back as the channel carries it.
template <class T>
T through_json(const T& value) {
  return from_json_fields<T>(
      nlohmann::json::from_msgpack(nlohmann::json::to_msgpack(to_json_fields(value))));
}

TEST(JsonFields, keep_every_bit_of_a_double) {
  for (const double value : {0.1, -0.0, 1e-310, 123456789.123456789, kInf, -kInf}) {
    const HostTiming back = through_json(HostTiming{value, 1});
    EXPECT_EQ(back.median_us, value);
    EXPECT_EQ(std::signbit(back.median_us), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(through_json(HostTiming{std::nan(""), 1}).median_us));
}

TEST(JsonFields, keep_a_whole_observation) {
  Observation seen;
  seen.numerics.p = DType::kBF16;
  FillOutputs outputs;
  outputs.rows = {std::byte{0x00}, std::byte{0xff}};
  outputs.pages = {-1, 7};
  outputs.non_finite_elsewhere = std::int64_t{1} << 60;
  outputs.first_elsewhere = {3, "group", 5, 7, -1, 11, std::nan(""), kInf};
  seen.fills = {{}, outputs};
  seen.bitwise = {1, 0, -1};
  seen.faults = {"\"why\"\n"};
  seen.crash = "gone";
  seen.parts.resize(2);
  seen.parts[1].kernel = "of the decodes";
  const Observation back = through_json(seen);
  EXPECT_EQ(back.numerics.p, DType::kBF16);
  ASSERT_EQ(back.fills.size(), 2u);
  EXPECT_TRUE(back.fills[0].rows.empty());
  EXPECT_EQ(back.fills[1].rows, outputs.rows);
  EXPECT_EQ(back.fills[1].pages, outputs.pages);
  EXPECT_EQ(back.fills[1].non_finite_elsewhere, outputs.non_finite_elsewhere);
  EXPECT_EQ(back.fills[1].first_elsewhere.group, "group");
  EXPECT_EQ(back.fills[1].first_elsewhere.page, 11);
  EXPECT_TRUE(std::isnan(back.fills[1].first_elsewhere.got));
  EXPECT_EQ(back.fills[1].first_elsewhere.want, kInf);
  EXPECT_EQ(back.bitwise.repeatable, 1);
  EXPECT_EQ(back.bitwise.batch_invariant, -1);
  EXPECT_EQ(back.faults, seen.faults);
  EXPECT_EQ(back.crash, "gone");
  ASSERT_EQ(back.parts.size(), 2u);
  EXPECT_EQ(back.parts[1].kernel, "of the decodes");
}

TEST(JsonFields, keep_what_updating_costs_or_why_it_was_refused) {
  const RecordedPlan back = through_json(RecordedPlan{{3, 4}, 5, "why"});
  EXPECT_EQ(back.update.median_us, 3);
  EXPECT_EQ(back.update.max_us, 4);
  EXPECT_EQ(back.refusal, "why");
}

TEST(JsonFields, keep_a_batched_graph) {
  const BatchedGraph back = through_json(BatchedGraph{31, 29});
  EXPECT_EQ(back.forwards, 31);
  EXPECT_EQ(back.sets, 29);
}

TEST(JsonFields, keep_the_samples_of_a_visit) {
  SampleBlock block;
  block.samples = {{1.5, 2.5, 1980}, {3, 4, 0}};
  block.outputs = {{7, {std::byte{0x00}, std::byte{0xff}, std::byte{0x1a}}}, {8, {}}};
  block.damage = "input 'q' was modified";
  block.spent_s = 0.25;
  block.clock_events = {.power_cap = true, .thermal = false};
  block.processes = {{4321, 1 << 20}};
  const SampleBlock back = through_json(block);
  ASSERT_EQ(back.samples.size(), 2u);
  EXPECT_EQ(back.samples[0].enqueue_us, 2.5);
  EXPECT_EQ(back.samples[1].us, 3);
  ASSERT_EQ(back.outputs.size(), 2u);
  EXPECT_EQ(back.outputs[0].number, 7);
  EXPECT_EQ(back.outputs[0].rows, block.outputs[0].rows);
  EXPECT_TRUE(back.outputs[1].rows.empty());
  EXPECT_EQ(back.damage, block.damage);
  EXPECT_EQ(back.spent_s, 0.25);
  EXPECT_TRUE(back.clock_events.power_cap);
  EXPECT_FALSE(back.clock_events.thermal);
  ASSERT_EQ(back.processes.size(), 1u);
  EXPECT_EQ(back.processes[0].pid, 4321);
  EXPECT_EQ(back.processes[0].memory_bytes, 1 << 20);
}

TEST(JsonFields, keep_which_rows_are_wanted) {
  const WantedRows back =
      through_json(WantedRows{{Fill::kNeedle, Fill::kTiming}, {{1, 2, 3}, {4, 5, 6}}, 100});
  EXPECT_EQ(back.compositions, 100);
  EXPECT_EQ(back.fills, (std::vector<Fill>{Fill::kNeedle, Fill::kTiming}));
  EXPECT_EQ(back.rows, (std::vector<RowId>{{1, 2, 3}, {4, 5, 6}}));
}

TEST(JsonFields, refuse_numbers_that_are_cut) {
  nlohmann::json numbers = to_json_fields(std::vector<double>{1, 2});
  numbers.get_binary().pop_back();
  EXPECT_THROW(static_cast<void>(from_json_fields<std::vector<double>>(numbers)), InternalError);
}

TEST(JsonFields, refuse_an_enumerator_that_does_not_exist) {
  EXPECT_EQ(from_json_fields<DType>(1), DType::kF16);
  EXPECT_THROW(static_cast<void>(from_json_fields<DType>(99)), InternalError);
}

TEST(FieldCount, counts_texts_lists_and_structs_as_one_member_each) {
  struct Inner {
    int a, b;
  };
  struct Outer {
    std::string text = "default";
    std::vector<double> list;
    Inner inner;
    DType dtype = DType::kF32;
    bool flag = false;
  };
  EXPECT_EQ(field_count<Inner>(), 2u);
  EXPECT_EQ(field_count<Outer>(), 5u);
  Outer value;
  visit_fields(value, [](std::string& text, auto&, Inner& inner, auto&, bool& flag) {
    text = "seen";
    inner.b = 7;
    flag = true;
  });
  EXPECT_EQ(value.text, "seen");
  EXPECT_EQ(value.inner.b, 7);
  EXPECT_TRUE(value.flag);
}

}  // namespace
}  // namespace attnbench
