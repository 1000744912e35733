// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "lib/measure/ceilings.h"

namespace attnbench {
namespace {

class IdleStream final : public Stream {
 public:
  void synchronize() override {}
};

/// A machine whose time passes only where a test says so.
class FakeMachine final : public Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t, std::string_view) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<IdleStream>();
  }
  void copy_to_host(void*, const std::byte*, std::size_t) override {}
  void copy_from_host(std::byte*, const void*, std::size_t) override {}
  void flush_cache(Stream&) override {
    now_s += 0.001;
    log += 'F';
  }

  void touch(Stream&, std::span<const std::span<const std::byte>> parts) override {
    for (const std::span<const std::byte> part : parts) {
      now_s += 0.001;
      log += 'T' + std::to_string(part.size());
    }
  }

  [[nodiscard]] Clock clock() {
    return [this] { return now_s; };
  }
  /// A cell that appends `letter` to the log and lasts about `us`: lognormal with `spread`.
  [[nodiscard]] TimedCell cell(char letter, double us, double spread,
                               CacheState cache = CacheState::kWarm) {
    return {std::string(1, letter), cache, [this, letter, us, spread](Stream&) {
              log += letter;
              now_s += 1e-6 * us * std::exp(spread * std::normal_distribution<double>()(random));
            }};
  }

  double now_s = 100;
  std::string log;  ///< who ran, in order; F = flush, T3 = three bytes touched
  std::mt19937 random{7};

 private:
  DeviceInfo info_;
};

/// Blocks of five samples, so that visits are easy to read off the log.
MeasureConfig small_blocks() {
  MeasureConfig config;
  config.min_block_samples = config.max_block_samples = 5;
  return config;
}

/// The cells in order of their visits: warm visits leave ten letters each (five untimed forwards).
std::string visits(const std::string& log, std::size_t cells) {
  const std::size_t warm_up = cells * 7;  // one forward, three estimates of two forwards
  std::string order;
  for (std::size_t i = warm_up; i < log.size(); i += 10) {
    EXPECT_EQ(log.substr(i, 10), std::string(10, log[i])) << "a visit was interleaved";
    order += log[i];
  }
  return order;
}

TEST(CellTiming, calls_a_clock_slow_by_more_evidence_where_there_are_few_visits) {
  CellTiming timing;
  timing.rounds = 3;
  timing.slow_clock = {.visits = 3, .process_s = 0.0071, .run_s = 0.0299};
  EXPECT_FALSE(timing.clock_was_slow()) << "a busy machine";
  timing.slow_clock.run_s = 0.085;
  EXPECT_TRUE(timing.clock_was_slow());
  timing.rounds = 12;
  timing.slow_clock = {.visits = 12, .process_s = 0.12, .run_s = 0.2};
  EXPECT_TRUE(timing.clock_was_slow()) << "of many visits a little";
  timing.slow_clock.visits = 9;
  EXPECT_FALSE(timing.clock_was_slow());
}

TEST(MeasureCells, finds_the_median_of_a_known_duration) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0.05), machine.cell('b', 3000, 0.05)};
  const auto timings = measure_cells_by(machine.clock(), cells, machine, {}, 1, {});
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_NEAR(timings[0].median_us, 200, 5);
  EXPECT_NEAR(timings[1].median_us, 3000, 75);
  for (const CellTiming& timing : timings) {
    EXPECT_LE(timing.min_us, timing.q1_us);
    EXPECT_LE(timing.q1_us, timing.median_us);
    EXPECT_LE(timing.lo_us, timing.median_us);
    EXPECT_LE(timing.median_us, timing.hi_us);
    EXPECT_LE(timing.median_us, timing.q3_us);
    EXPECT_LE(timing.q3_us, timing.max_us);
    EXPECT_NE(timing.status, MeasureStatus::kInterrupted);
  }
}

TEST(MeasureCells, sizes_blocks_to_fill_their_time) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 500, 0), machine.cell('b', 1, 0),
                                     machine.cell('c', 1e5, 0)};
  const auto timings = measure_cells_by(machine.clock(), cells, machine, {}, 1, {});
  EXPECT_EQ(timings[0].samples / timings[0].rounds, 10);  // 10 ms / (0.5 ms untimed + 0.5 ms)
  EXPECT_EQ(timings[1].samples / timings[1].rounds, 150);
  EXPECT_EQ(timings[2].samples / timings[2].rounds, 5);
}

TEST(MeasureCells, converges_when_the_interval_is_narrow_and_not_before_twelve_rounds) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0.001)};
  const auto timing = measure_cells_by(machine.clock(), cells, machine, {}, 1, {}).front();
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(timing.rounds, 12);
  EXPECT_LE(timing.half_width(), 0.005);
}

TEST(MeasureCells, converges_later_on_a_noisier_cell) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0.015)};
  const auto timing =
      measure_cells_by(machine.clock(), cells, machine, small_blocks(), 1, {}).front();
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_GT(timing.rounds, 12);
  EXPECT_LE(timing.half_width(), 0.005);
}

TEST(MeasureCells, gives_up_as_noisy_after_the_last_round) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0.5)};
  const auto timing = measure_cells_by(machine.clock(), cells, machine, {}, 1, {}).front();
  EXPECT_EQ(timing.status, MeasureStatus::kNoisy);
  EXPECT_EQ(timing.rounds, 40);
  EXPECT_GT(timing.half_width(), 0.005);
}

TEST(MeasureCells, never_calls_fewer_than_six_rounds_converged) {
  FakeMachine machine;
  MeasureConfig config;
  config.min_rounds = 2;
  config.max_rounds = 5;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0)};
  const auto timing = measure_cells_by(machine.clock(), cells, machine, config, 1, {}).front();
  EXPECT_EQ(timing.status, MeasureStatus::kNoisy);
  EXPECT_EQ(timing.rounds, 5);
}

TEST(MeasureCells, times_out_with_what_it_has_but_at_least_one_block) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 4e5, 0), machine.cell('b', 2e7, 0)};
  const auto timings = measure_cells_by(machine.clock(), cells, machine, {}, 1, {});
  EXPECT_EQ(timings[0].status, MeasureStatus::kTimeout);
  EXPECT_GT(timings[0].rounds, 1);
  EXPECT_LT(timings[0].rounds, 12);
  EXPECT_EQ(timings[1].status, MeasureStatus::kTimeout);
  EXPECT_EQ(timings[1].rounds, 1);
  EXPECT_EQ(timings[1].samples, 1);
  EXPECT_NEAR(timings[1].median_us, 2e7, 1);
}

TEST(MeasureCells, visits_every_cell_once_a_round_in_a_changing_order_that_the_seed_reproduces) {
  const auto order_of = [](std::uint64_t seed) {
    FakeMachine machine;
    std::vector<TimedCell> cells;
    for (const char letter : {'a', 'b', 'c', 'd'}) cells.push_back(machine.cell(letter, 200, 0));
    (void)measure_cells_by(machine.clock(), cells, machine, small_blocks(), seed, {});
    return visits(machine.log, cells.size());
  };
  const std::string order = order_of(7);
  ASSERT_EQ(order.size(), 48u);
  int changes = 0;
  for (std::size_t round = 0; round < 12; ++round) {
    std::string visited = order.substr(4 * round, 4);
    if (round > 0 && visited != order.substr(4 * round - 4, 4)) ++changes;
    std::ranges::sort(visited);
    EXPECT_EQ(visited, "abcd") << "round " << round;
  }
  EXPECT_GE(changes, 8);
  EXPECT_EQ(order, order_of(7));
  EXPECT_NE(order, order_of(8));
}

TEST(MeasureCells, keeps_the_median_of_every_round) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0), machine.cell('b', 300, 0.5)};
  const auto timings = measure_cells_by(machine.clock(), cells, machine, small_blocks(), 1, {});
  ASSERT_EQ(timings[0].blocks.size(), 12u);
  ASSERT_EQ(timings[1].blocks.size(), 40u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(timings[0].blocks[i].round, static_cast<int>(i));
    EXPECT_NEAR(timings[0].blocks[i].us, 200, 0.01);
    EXPECT_EQ(timings[1].blocks[i].round, static_cast<int>(i));
  }
}

TEST(MeasureCells, stops_visiting_a_cell_that_is_done) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0), machine.cell('b', 200, 0.5)};
  const auto timings = measure_cells_by(machine.clock(), cells, machine, small_blocks(), 1, {});
  EXPECT_EQ(timings[0].rounds, 12);
  EXPECT_EQ(timings[1].rounds, 40);
}

TEST(MeasureCells, flushes_before_each_cold_sample_and_runs_untimed_before_each_warm_one) {
  FakeMachine machine;
  MeasureConfig config = small_blocks();
  config.min_rounds = config.max_rounds = 6;
  const std::vector<TimedCell> cold{machine.cell('c', 200, 0, CacheState::kCold)};
  const auto timing = measure_cells_by(machine.clock(), cold, machine, config, 1, {}).front();
  std::string expected = "c";  // warm-up
  for (int i = 0; i < 3 + 6 * 5; ++i) expected += "Fc";
  EXPECT_EQ(machine.log, expected);
  EXPECT_NEAR(timing.median_us, 200, 0.01) << "the flush was timed";

  machine.log.clear();
  const std::vector<TimedCell> warm{machine.cell('w', 200, 0)};
  (void)measure_cells_by(machine.clock(), warm, machine, config, 1, {});
  EXPECT_EQ(machine.log, std::string(1 + 2 * (3 + 6 * 5), 'w'));
}

TEST(MeasureCells, touches_what_a_step_has_just_written_after_the_flush_of_a_serving_sample) {
  FakeMachine machine;
  MeasureConfig config = small_blocks();
  config.min_rounds = config.max_rounds = 6;
  const std::vector<std::byte> bytes(7);
  std::vector<TimedCell> cells{machine.cell('s', 200, 0, CacheState::kServing)};
  cells[0].serving = {std::span(bytes).first(3), std::span(bytes)};
  const auto timing = measure_cells_by(machine.clock(), cells, machine, config, 1, {}).front();
  std::string expected = "s";  // warm-up
  for (int i = 0; i < 3 + 6 * 5; ++i) expected += "FT3T7s";
  EXPECT_EQ(machine.log, expected);
  EXPECT_NEAR(timing.median_us, 200, 0.01) << "the touch was timed";
}

TEST(MeasureCells, keeps_what_was_measured_when_interrupted) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0), machine.cell('b', 200, 0)};
  MeasureHooks hooks;
  hooks.stop_requested = [&] { return machine.log.size() >= 14 + 2 * 20 + 4; };
  const auto timings = measure_cells_by(machine.clock(), cells, machine, small_blocks(), 1, hooks);
  EXPECT_EQ(timings[0].samples + timings[1].samples, 22);
  EXPECT_EQ(timings[0].rounds + timings[1].rounds, 5) << "four visits and the one cut short";
  for (const CellTiming& timing : timings) {
    EXPECT_EQ(timing.status, MeasureStatus::kInterrupted);
    EXPECT_NEAR(timing.median_us, 200, 0.01);
  }
}

TEST(MeasureCells, interrupted_before_the_first_sample_has_none) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0)};
  MeasureHooks hooks;
  hooks.stop_requested = [] { return true; };
  const auto timing = measure_cells_by(machine.clock(), cells, machine, {}, 1, hooks).front();
  EXPECT_EQ(timing.status, MeasureStatus::kInterrupted);
  EXPECT_EQ(timing.samples, 0);
  EXPECT_EQ(timing.half_width(), 0);
  EXPECT_TRUE(machine.log.empty());
}

TEST(MeasureCells, reports_progress_that_counts_down_to_nothing) {
  FakeMachine machine;
  const std::vector<TimedCell> cells{machine.cell('a', 200, 0.002), machine.cell('b', 300, 0.002)};
  std::vector<double> remaining;
  double elapsed = 0;
  int round = 0;
  MeasureHooks hooks;
  hooks.progress = [&](const MeasureProgress& progress) {
    EXPECT_TRUE(progress.cell == "a" || progress.cell == "b");
    EXPECT_GE(progress.round, round);
    EXPECT_GT(progress.elapsed_s, elapsed);
    round = progress.round;
    elapsed = progress.elapsed_s;
    remaining.push_back(progress.remaining_s);
  };
  (void)measure_cells_by(machine.clock(), cells, machine, {}, 1, hooks);
  ASSERT_EQ(remaining.size(), 24u);
  EXPECT_NEAR(remaining.front(), 23 * 0.010, 0.015);
  EXPECT_EQ(remaining.back(), 0);
}

TEST(MeasureCells, of_no_cells_is_nothing) {
  FakeMachine machine;
  EXPECT_TRUE(measure_cells({}, machine, {}, 1, {}).empty());
}

/// Busy for `us` by the real clock.
void spin(double us) {
  const Clock clock = real_clock();
  const double end = clock() + us * 1e-6;
  while (clock() < end) {
  }
}

TEST(MeasureCells, agrees_with_a_real_clock_about_a_spin_of_known_length) {
  FakeMachine machine;  // its clock is not asked
  MeasureConfig config = small_blocks();
  config.min_rounds = config.max_rounds = 6;
  const std::vector<TimedCell> cells{{"spin", CacheState::kWarm, [](Stream&) { spin(500); }}};
  const auto timing = measure_cells(cells, machine, config, 1, {}).front();
  EXPECT_GE(timing.min_us, 499);
  EXPECT_LT(timing.min_us, 1000) << "30 samples on a busy machine, and none near 500 us";
}

TEST(TimeHost, gives_the_median_and_the_largest) {
  int calls = 0;
  const HostTiming timing = time_host([&] { spin(++calls == 3 ? 3000 : 300); }, 5);
  EXPECT_EQ(calls, 5);
  EXPECT_GE(timing.median_us, 299);
  EXPECT_GE(timing.max_us, 2999);
  EXPECT_LE(timing.median_us, timing.max_us);
}

TEST(MeasureStatus, is_written_in_lower_case_words) {
  EXPECT_EQ(to_string(MeasureStatus::kConverged), "converged");
  EXPECT_EQ(to_string(MeasureStatus::kNoisy), "noisy");
  EXPECT_EQ(to_string(MeasureStatus::kTimeout), "not converged");
  EXPECT_EQ(to_string(MeasureStatus::kThrottled), "throttled");
  EXPECT_EQ(to_string(MeasureStatus::kHostSync), "host sync");
  EXPECT_EQ(to_string(MeasureStatus::kFailed), "failed");
  EXPECT_EQ(to_string(MeasureStatus::kInterrupted), "interrupted");
  EXPECT_EQ(to_string(MeasureStatus::kNotMeasured), "not measured");
}

TEST(Ceilings, read_each_word_once_in_any_number_of_streams) {
  std::vector<std::uint64_t> words(1001);
  std::iota(words.begin(), words.end(), 1);
  for (const std::size_t streams : {1u, 2u, 8u, 200u})
    EXPECT_EQ(sum_words(words, streams), 501'501);
}

TEST(Ceilings, are_rates_of_a_real_machine) {
  const auto device = make_cpu_device();
  for (const int turns : {1, 2}) {  // a rough figure and a full one
    const Ceilings ceilings = measure_ceilings(*device, turns);
    for (const double rate :
         {ceilings.read_bytes_per_s, ceilings.copy_bytes_per_s, ceilings.flop_per_s}) {
      EXPECT_TRUE(std::isfinite(rate));
      EXPECT_GT(rate, 1e8);
      EXPECT_LT(rate, 1e15);
    }
  }
}

}  // namespace
}  // namespace attnbench
