// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/checked_samples.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <stdexcept>

namespace attnbench {
namespace {

using testing::ElementsAre;

/// Sample n leaves its number.
class NumberedSamples final : public SampleSource {
 public:
  void warm_up(WarmUp&, double, double, const Stop&) override {}
  void take(SampleBlock& block, int count, double, const Stop&) override {
    for (int i = 0; i < count; ++i) {
      block.samples.push_back({1, 0, 0});
      block.outputs.push_back({++taken_, {}, unwritten ? unwritten(taken_) : kNothing});
    }
    block.damage = damage && damage(taken_) ? text : "";
  }

  std::function<bool(std::int64_t taken)> damage;
  std::string text = "input 'q' was modified";
  std::function<std::vector<SampleIo::Unwritten>(std::int64_t number)> unwritten;

 private:
  const std::vector<SampleIo::Unwritten> kNothing;
  std::int64_t taken_ = 0;
};

const SampleSource::Stop kNever = [] { return false; };
const CheckedSamples::Wait kNoWait = [](double) {};

std::vector<std::int64_t> ordinals(const CheckedSamples& samples) {
  std::vector<std::int64_t> found;
  for (const CheckedSamples::Kept& each : samples.kept()) {
    EXPECT_EQ(each.ordinal, each.outputs.number) << "a sample is kept with its own outputs";
    found.push_back(each.ordinal);
  }
  return found;
}

std::vector<std::int64_t> kept_of(std::uint64_t seed, int visits, int count) {
  CheckedSamples samples(std::make_unique<NumberedSamples>(), seed, kNoWait);
  for (int i = 0; i < visits; ++i) {
    SampleBlock block;
    samples.take(block, count, 1, {});
  }
  return ordinals(samples);
}

TEST(WatchedSamplesOfACell, are_one_of_each_placement_and_always_the_last) {
  const std::vector<std::int64_t> kept = kept_of(1, 20, 50);
  EXPECT_EQ(kept.back(), 1000);
  std::set<std::int64_t> placements;
  for (const std::int64_t ordinal : kept) placements.insert((ordinal - 1) / 50 % 12);
  EXPECT_EQ(placements.size(), 12u);
  EXPECT_LE(kept.size(), 13u);
  EXPECT_THAT(kept_of(1, 1, 1), ElementsAre(1));
  EXPECT_TRUE(kept_of(1, 0, 0).empty());
}

TEST(WatchedSamplesOfACell, are_drawn_by_the_seed_from_all_of_them) {
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::int64_t> kept = kept_of(seed, 4, 10);
    seen.insert(kept.begin(), kept.end());
  }
  EXPECT_EQ(seen.size(), 40u) << "every sample is drawn by some seed";
  EXPECT_EQ(kept_of(5, 4, 10), kept_of(5, 4, 10));
}

TEST(WatchedSamplesOfACell, end_with_the_damage_of_a_visit_and_of_its_repetitions) {
  auto source = std::make_unique<NumberedSamples>();
  source->damage = [](std::int64_t taken) { return taken >= 4; };
  CheckedSamples samples(std::move(source), 1, kNoWait);
  SampleBlock first, second;
  samples.take(first, 2, 1, kNever);
  EXPECT_EQ(samples.damage(), "");
  EXPECT_THROW(samples.take(second, 2, 1, kNever), std::runtime_error);
  EXPECT_EQ(samples.damage(), "input 'q' was modified");
  EXPECT_EQ(samples.odd_damage(), "");
}

TEST(WatchedSamplesOfACell, repeat_a_visit_whose_damage_may_be_another_backends) {
  auto source = std::make_unique<NumberedSamples>();
  source->damage = [](std::int64_t taken) { return taken == 4; };
  CheckedSamples samples(std::move(source), 1, kNoWait);
  SampleBlock block;
  samples.take(block, 4, 1, kNever);
  EXPECT_EQ(samples.damage(), "");
  EXPECT_EQ(samples.odd_damage(), "input 'q' was modified");
  EXPECT_EQ(block.samples.size(), 4u);
  for (const CheckedSamples::Kept& each : samples.kept()) {
    EXPECT_GT(each.outputs.number, 4) << "of the repetition";
  }
}

TEST(WatchedSamplesOfACell, wait_longer_before_each_repetition_for_what_others_do_meanwhile) {
  auto source = std::make_unique<NumberedSamples>();
  bool others_run = true;
  source->damage = [&](std::int64_t) { return others_run; };
  double waited_s = 0;
  CheckedSamples samples(std::move(source), 1, [&](double seconds) {
    waited_s += seconds;
    others_run = waited_s < 0.5;  // a thread that goes on for half a second
  });
  SampleBlock block;
  samples.take(block, 4, 1, kNever);
  EXPECT_EQ(samples.damage(), "");
  EXPECT_NE(samples.odd_damage(), "");
}

TEST(WatchedSamplesOfACell, repeat_a_visit_that_changed_guard_bytes_too) {
  auto source = std::make_unique<NumberedSamples>();
  source->text = "guard bytes of 'out' changed";
  source->damage = [](std::int64_t taken) { return taken == 4; };
  CheckedSamples samples(std::move(source), 1, kNoWait);
  SampleBlock block;
  samples.take(block, 4, 1, kNever);
  EXPECT_EQ(samples.damage(), "");
  EXPECT_EQ(samples.odd_damage(), "guard bytes of 'out' changed");
}

TEST(WatchedSamplesOfACell, keep_the_first_that_left_outputs_unwritten_of_each_step) {
  auto source = std::make_unique<NumberedSamples>();
  source->unwritten = [](std::int64_t number) -> std::vector<SampleIo::Unwritten> {
    if (number == 37) return {{}, {.lse = 2}};
    if (number >= 41) return {{.out = number}, {.lse = 1}};
    return {{}, {}};
  };
  CheckedSamples samples(std::move(source), 1, kNoWait);
  SampleBlock block;
  samples.take(block, 100, 1, kNever);
  const auto found = samples.unwritten();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].ordinal, 41);
  EXPECT_EQ(found[0].found.out, 41);
  EXPECT_EQ(found[1].ordinal, 37);
  EXPECT_EQ(found[1].step, 1u);
}

}  // namespace
}  // namespace attnbench
