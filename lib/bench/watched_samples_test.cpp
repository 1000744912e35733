// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/watched_samples.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

namespace attnbench {
namespace {

using testing::ElementsAre;

/// Sample n leaves its number.
class NumberedSamples final : public SampleSource {
 public:
  void warm_up(FirstSamples&, double, double, const Stop&) override {}
  void take(SampleBlock& block, int count, double, const Stop&) override {
    for (int i = 0; i < count; ++i) {
      block.samples.push_back({1, 0, 0});
      block.outputs.push_back({++taken_, {}});
    }
    block.damage = damage_after == taken_ ? "input 'q' was modified" : "";
  }

  std::int64_t damage_after = -1;

 private:
  std::int64_t taken_ = 0;
};

std::vector<std::int64_t> ordinals(const WatchedSamples& samples) {
  std::vector<std::int64_t> found;
  for (const WatchedSamples::Kept& each : samples.kept()) {
    EXPECT_EQ(each.ordinal, each.outputs.number) << "a sample is kept with its own outputs";
    found.push_back(each.ordinal);
  }
  return found;
}

std::vector<std::int64_t> kept_of(std::uint64_t seed, int visits, int count) {
  WatchedSamples samples(std::make_unique<NumberedSamples>(), seed);
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

TEST(WatchedSamplesOfACell, end_with_the_damage_of_a_visit) {
  auto source = std::make_unique<NumberedSamples>();
  source->damage_after = 4;
  WatchedSamples samples(std::move(source), 1);
  SampleBlock first, second;
  samples.take(first, 2, 1, {});
  EXPECT_EQ(samples.damage(), "");
  EXPECT_THROW(samples.take(second, 2, 1, {}), std::runtime_error);
  EXPECT_EQ(samples.damage(), "input 'q' was modified");
}

}  // namespace
}  // namespace attnbench
