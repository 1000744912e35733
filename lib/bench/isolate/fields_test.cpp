// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/bench/isolate/json_fields.h"

namespace attnbench {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// There and back as the channel carries it.
template <class T>
T through_json(const T& value) {
  return from_json_fields<T>(
      nlohmann::json::from_cbor(nlohmann::json::to_cbor(to_json_fields(value))));
}

TEST(JsonFields, keep_every_bit_of_a_double) {
  for (const double value : {0.1, -0.0, 1e-310, 123456789.123456789, kInf, -kInf}) {
    const HostTiming back = through_json(HostTiming{value, 1});
    EXPECT_EQ(back.median_us, value);
    EXPECT_EQ(std::signbit(back.median_us), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(through_json(HostTiming{std::nan(""), 1}).median_us));
}

TEST(JsonFields, keep_a_whole_verification) {
  Verification v;
  v.verdict = Verdict::kIncorrect;
  v.reason = "\"why\"\n";
  v.error.max_abs = kInf;
  v.error.rows = std::int64_t{1} << 60;
  v.error.fill = "needle";
  v.error.worst = {3, "group", 5, 7, -1, 11, std::nan(""), 13};
  v.error.zero_share = 0.25;
  v.bitwise = {1, 0, -1};
  const Verification back = through_json(v);
  EXPECT_EQ(back.verdict, v.verdict);
  EXPECT_EQ(back.reason, v.reason);
  EXPECT_EQ(back.error.max_abs, kInf);
  EXPECT_EQ(back.error.rows, v.error.rows);
  EXPECT_EQ(back.error.fill, "needle");
  EXPECT_EQ(back.error.worst.group, "group");
  EXPECT_EQ(back.error.worst.page, 11);
  EXPECT_TRUE(std::isnan(back.error.worst.got));
  EXPECT_EQ(back.error.worst.want, 13);
  EXPECT_EQ(back.error.zero_share, 0.25);
  EXPECT_EQ(back.bitwise.repeatable, 1);
  EXPECT_EQ(back.bitwise.batch_invariant, -1);
}

TEST(JsonFields, keep_what_updating_costs_or_why_it_was_refused) {
  const RecordedPlan back = through_json(RecordedPlan{{3, 4}, "why"});
  EXPECT_EQ(back.update.median_us, 3);
  EXPECT_EQ(back.update.max_us, 4);
  EXPECT_EQ(back.refusal, "why");
}

TEST(JsonFields, keep_how_often_a_forward_is_repeated) {
  const Repeats back = through_json(Repeats{31, 29});
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
}

std::vector<FillTruth> some_truth() {
  ReferenceRow row;
  row.id = {1, 2, 3};
  row.out = {0.5, -kInf};
  row.lse = -kInf;
  row.a = {1, 2};
  row.b = {3};
  row.v_max = 4.5;
  row.denominator = 2;
  row.visible = 77;
  return {{Fill::kNeedle, {row, row}}, {Fill::kTiming, {}}};
}

TEST(JsonFields, keep_a_reference) {
  const std::vector<FillTruth> back = through_json(some_truth());
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].fill, Fill::kNeedle);
  EXPECT_EQ(back[1].fill, Fill::kTiming);
  EXPECT_TRUE(back[1].rows.empty());
  ASSERT_EQ(back[0].rows.size(), 2u);
  const ReferenceRow& row = back[0].rows[1];
  EXPECT_EQ(row.id, (RowId{1, 2, 3}));
  EXPECT_EQ(row.out, (std::vector<double>{0.5, -kInf}));
  EXPECT_EQ(row.lse, -kInf);
  EXPECT_EQ(row.b, (std::vector<double>{3}));
  EXPECT_EQ(row.visible, 77);
}

TEST(JsonFields, refuse_numbers_that_are_cut) {
  nlohmann::json numbers = to_json_fields(std::vector<double>{1, 2});
  numbers.get_binary().pop_back();
  EXPECT_THROW(static_cast<void>(from_json_fields<std::vector<double>>(numbers)), InternalError);
}

}  // namespace
}  // namespace attnbench
