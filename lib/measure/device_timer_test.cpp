// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/measure/measure.h"

namespace attnbench {
namespace {

/// A device with a timer of its own: what a sample finds is up to the test.
class FakeGpu final : public Device {
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
  void flush_cache(Stream&) override { log += 'F'; }
  void touch(Stream&, std::span<const std::span<const std::byte>> parts) override {
    log.append(parts.size(), 'T');
  }

  [[nodiscard]] ClockEvents clock_events() const override {
    // After the second block, and within the fifth, where it must not be looked for.
    return {.power_cap = samples == 23, .thermal = samples == 50, .hw_slowdown = false};
  }
  [[nodiscard]] std::vector<GpuProcess> processes() override {
    return samples == 23 ? std::vector<GpuProcess>{{getpid(), 8}, {getppid(), 40}}
                         : std::vector<GpuProcess>{{getpid(), 8}};
  }
  [[nodiscard]] std::unique_ptr<SampleTimer> make_timer(Stream& stream) override {
    return std::make_unique<Timer>(*this, stream);
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Stream& stream, const Work& work) override {
    log += '[';
    work(stream);
    log += ']';
    return std::make_unique<Replay>(*this);
  }

  /// Time passes with each sample and each preheat window only.
  [[nodiscard]] Clock clock() {
    return [this] { return now_s; };
  }
  [[nodiscard]] TimedCell cell(CacheState cache = CacheState::kCold,
                               LaunchMode launch = LaunchMode::kEager) {
    return {"cell", cache, [this](Stream&) { log += 'f'; }, launch};
  }
  [[nodiscard]] CellTiming measure(const TimedCell& timed) {
    MeasureConfig config;
    config.min_block_samples = config.max_block_samples = 10;
    return measure_cells_by(clock(), std::vector<TimedCell>{timed}, *this, config, 1, {}).front();
  }

  std::function<TimedSample(int index)> sample = [](int) { return TimedSample{200, 3, 1980}; };
  double preheat_mhz = 1980;
  double idle_lead_us = 40;
  int preheats = 0;
  int samples = 0;
  double now_s = 100;
  std::string log;  ///< f = forward, r = replay, F = flush

 private:
  class IdleStream final : public Stream {
   public:
    void synchronize() override {}
  };
  class Timer final : public SampleTimer {
   public:
    Timer(FakeGpu& gpu, Stream& stream) : gpu_(&gpu), stream_(&stream) {}
    [[nodiscard]] TimedSample time(const SampleSteps& steps) override {
      steps.prepare(*stream_);
      if (steps.before) steps.before(*stream_);
      steps.work(*stream_);
      if (steps.collect) steps.collect(*stream_);
      gpu_->now_s += 0.002;
      return gpu_->sample(gpu_->samples++);
    }
    [[nodiscard]] double idle_lead_us(const SampleSteps& steps) override {
      for (int i = 0; i < 2; ++i) {
        steps.prepare(*stream_);
        steps.before(*stream_);
      }
      return gpu_->idle_lead_us;
    }
    [[nodiscard]] double clock_mhz_over(double seconds, const Work&, const Work&) override {
      ++gpu_->preheats;
      gpu_->now_s += seconds;
      return gpu_->preheat_mhz;
    }

   private:
    FakeGpu* gpu_;
    Stream* stream_;
  };
  class Replay final : public Recording {
   public:
    explicit Replay(FakeGpu& gpu) : gpu_(&gpu) {}
    void replay(Stream&) override { gpu_->log += 'r'; }

   private:
    FakeGpu* gpu_;
  };
  DeviceInfo info_;
};

TEST(DeviceTimers, are_believed_instead_of_the_hosts_clock) {
  FakeGpu gpu;
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(timing.median_us, 200);
  EXPECT_EQ(timing.enqueue_us, 3);
  EXPECT_EQ(timing.sm_mhz, 1980);
  EXPECT_EQ(timing.discarded, 0);
  EXPECT_EQ(timing.samples, 120);
  EXPECT_EQ(gpu.preheats, 3);
}

TEST(DeviceTimers, preheat_a_cell_of_the_next_case_by_one_window_like_the_last) {
  FakeGpu gpu;
  static_cast<void>(gpu.measure(gpu.cell()));
  EXPECT_EQ(gpu.preheats, 3);
  static_cast<void>(gpu.measure(gpu.cell()));  // with a timer of its own
  EXPECT_EQ(gpu.preheats, 4);
}

TEST(DeviceTimers, discard_samples_below_the_settled_clock_and_count_them) {
  FakeGpu gpu;
  gpu.sample = [](int index) {
    return index % 20 == 19 ? TimedSample{300, 3, 1800} : TimedSample{200, 3, 1980};
  };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(timing.max_us, 200);
  EXPECT_EQ(timing.discarded, 6);
  EXPECT_EQ(timing.samples, 114);
}

TEST(DeviceTimers, count_samples_that_the_device_was_not_idle_before) {
  FakeGpu gpu;
  gpu.sample = [](int index) {
    const double lead_us = index % 20 == 19 ? 47 : index % 20 == 18 ? 45 : 40;
    return TimedSample{200, 3, 1980, lead_us};
  };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.disturbed, 6) << "45 us is within the spread of an idle device";
  EXPECT_EQ(timing.samples, 120) << "they count";
}

/// Keeps the numbers of the contents that it rewrote keys for, in order.
class RewritingIo final : public SampleIo {
 public:
  [[nodiscard]] std::int64_t sets() const override { return 1; }
  void poison_outputs(Stream&) override {}
  void rewrite_keys(std::int64_t first_number, Stream&) override {
    EXPECT_EQ(first_number, staged_);
    rewritten.push_back(first_number);
  }
  [[nodiscard]] std::int64_t stage(std::int64_t first_number, std::int64_t, Stream&) override {
    staged_ = first_number;
    return 1;
  }
  void write(std::int64_t first_number, Stream&) override { EXPECT_EQ(first_number, staged_); }
  void collect(std::int64_t, std::int64_t, Stream&) override {}
  [[nodiscard]] std::span<const std::byte> collected() const override { return {}; }
  [[nodiscard]] std::vector<Unwritten> unwritten() const override { return {}; }

  std::vector<std::int64_t> rewritten;

 private:
  std::int64_t staged_ = 0;
};

TEST(DeviceTimers, compare_leads_with_those_of_samples_that_rewrite_as_many_keys) {
  FakeGpu gpu;
  RewritingIo io;
  SampleNumbers numbers;
  TimedCell cell = gpu.cell();
  cell.inputs.io = &io;
  cell.inputs.numbers = &numbers;
  static_cast<void>(gpu.measure(cell));
  // Three samples of the warm-up, then two without work.
  ASSERT_GE(io.rewritten.size(), 5u);
  EXPECT_THAT(std::vector(io.rewritten.begin(), io.rewritten.begin() + 5),
              testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(DeviceTimers, do_not_compare_leads_where_no_cache_is_flushed) {
  FakeGpu gpu;
  gpu.sample = [](int) { return TimedSample{200, 3, 1980, 400}; };
  TimedCell warm = gpu.cell();
  warm.cache = CacheState::kWarm;
  EXPECT_EQ(gpu.measure(warm).disturbed, 0);
}

TEST(DeviceTimers, call_a_cell_throttled_when_more_than_a_tenth_was_discarded) {
  FakeGpu gpu;
  gpu.sample = [](int index) {
    return index % 5 == 4 ? TimedSample{300, 3, 1800} : TimedSample{200, 3, 1980};
  };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kThrottled);
  EXPECT_EQ(timing.median_us, 200);
}

TEST(DeviceTimers, follow_a_clock_that_settles_lower_for_good) {
  FakeGpu gpu;
  gpu.sample = [](int) { return TimedSample{250, 3, 1500}; };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(timing.discarded, 0);
  EXPECT_EQ(timing.rounds, 12);
  EXPECT_EQ(timing.sm_mhz, 1500);
}

TEST(DeviceTimers, judge_by_the_lower_clock_from_the_block_that_showed_it_on) {
  FakeGpu gpu;
  gpu.sample = [](int index) {
    return index % 20 == 9 ? TimedSample{400, 3, 1300} : TimedSample{250, 3, 1500};
  };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.discarded, 6);
  EXPECT_EQ(timing.max_us, 250);
}

TEST(DeviceTimers, keep_samples_at_the_clock_that_the_block_before_settled_at) {
  FakeGpu gpu;
  gpu.sample = [](int index) {  // the second block is faster but for three samples
    return index >= 13 && index < 20 ? TimedSample{200, 3, 1980} : TimedSample{250, 3, 1500};
  };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.discarded, 0);
  EXPECT_EQ(timing.min_us, 200);
}

TEST(DeviceTimers, call_a_cell_throttled_beyond_a_tenth_and_no_sooner) {
  for (const int every : {8, 10}) {
    FakeGpu gpu;
    gpu.sample = [every](int index) {
      return index % every == 7 ? TimedSample{300, 3, 1800} : TimedSample{200, 3, 1980};
    };
    EXPECT_EQ(gpu.measure(gpu.cell()).status,
              every == 8 ? MeasureStatus::kThrottled : MeasureStatus::kConverged);
  }
}

TEST(DeviceTimers, find_no_more_than_their_step_tells) {
  FakeGpu gpu;  // blocks of ten differ by 3 %, which is 0.09 us
  gpu.sample = [](int index) { return TimedSample{index / 10 % 2 == 0 ? 3.0 : 3.09, 3, 1980}; };
  EXPECT_EQ(gpu.measure(gpu.cell()).status, MeasureStatus::kConverged);
}

TEST(DeviceTimers, give_the_interval_of_the_medians_of_blocks) {
  FakeGpu gpu;  // medians of 200, 201 and so on up to 239, of which ranks 14 and 27 enclose 96 %
  gpu.sample = [](int index) { return TimedSample{200.0 + (index - 3) / 10, 3, 1980}; };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.rounds, 40);
  EXPECT_EQ(timing.median_us, 219.5);
  EXPECT_EQ(timing.lo_us, 213);
  EXPECT_EQ(timing.hi_us, 226);
}

TEST(DeviceTimers, discard_nothing_where_the_clock_cannot_be_told) {
  FakeGpu gpu;
  gpu.preheat_mhz = 0;
  gpu.sample = [](int index) { return TimedSample{5, 3, index % 2 * 1000.0}; };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(timing.discarded, 0);
  EXPECT_EQ(gpu.preheats, 1);
}

TEST(DeviceTimers, replay_a_graph_that_was_recorded_once_after_an_eager_run) {
  FakeGpu gpu;
  const CellTiming timing = gpu.measure(gpu.cell(CacheState::kCold, LaunchMode::kGraph));
  EXPECT_EQ(timing.status, MeasureStatus::kConverged);
  EXPECT_EQ(gpu.log.substr(0, 11), "f[f]rFrFrFr");
  EXPECT_EQ(gpu.log.find('f', 4), std::string::npos);

  gpu.log.clear();
  static_cast<void>(gpu.measure(gpu.cell(CacheState::kWarm, LaunchMode::kGraph)));
  EXPECT_EQ(gpu.log, "f[f]" + std::string(1 + 2 * 123, 'r'));
}

TEST(DeviceTimers, share_a_sample_out_among_the_forwards_in_it) {
  FakeGpu gpu;
  TimedCell cell = gpu.cell(CacheState::kCold, LaunchMode::kGraph);
  cell.repeats = 20;
  gpu.sample = [](int index) { return TimedSample{60.0 + index % 3, 3, 1980}; };
  const CellTiming timing = gpu.measure(cell);
  EXPECT_NEAR(timing.median_us, 61.0 / 20, 1e-12);
  EXPECT_NEAR(timing.min_us, 60.0 / 20, 1e-12);
  EXPECT_NEAR(timing.blocks.at(0).us, 61.0 / 20, 1e-12);
  EXPECT_EQ(timing.enqueue_us, 3) << "of the call, which is one";
}

TEST(DeviceTimers, share_the_timers_step_out_too) {
  FakeGpu gpu;
  // Blocks of ten differ by 3 %: 0.09 us of one forward, 1.8 us of the graph.
  gpu.sample = [](int index) { return TimedSample{index / 10 % 2 == 0 ? 60.0 : 61.8, 3, 1980}; };
  TimedCell cell = gpu.cell(CacheState::kCold, LaunchMode::kGraph);
  cell.repeats = 20;
  EXPECT_EQ(gpu.measure(cell).status, MeasureStatus::kNoisy);
}

TEST(DeviceTimers, end_a_cell_whose_forward_waits_with_the_reason) {
  FakeGpu gpu;
  gpu.sample = [](int) -> TimedSample { throw HostSyncError("forward waits"); };
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(timing.status, MeasureStatus::kHostSync);
  EXPECT_EQ(timing.failure, "forward waits");
  EXPECT_EQ(timing.samples, 0);
  EXPECT_EQ(gpu.samples, 1);
}

TEST(DeviceTimers, end_a_cell_that_throws_alone_with_what_it_had) {
  FakeGpu gpu;
  std::vector<TimedCell> cells{gpu.cell(), gpu.cell()};
  int forwards = 0;
  cells[0].forward = [&](Stream&) {
    if (++forwards == 40) throw std::runtime_error("launch failed");
  };
  const auto timings = measure_cells_by(gpu.clock(), cells, gpu, {}, 1, {});
  EXPECT_EQ(timings[0].status, MeasureStatus::kFailed);
  EXPECT_EQ(timings[0].failure, "launch failed");
  EXPECT_EQ(timings[0].samples, 40 - 2 - 3) << "all but the warm-up, the estimates and the last";
  EXPECT_EQ(timings[1].status, MeasureStatus::kConverged);
  EXPECT_EQ(timings[1].failure, "");
}

TEST(DeviceTimers, come_with_the_clock_events_of_all_blocks) {
  FakeGpu gpu;
  const CellTiming timing = gpu.measure(gpu.cell());
  EXPECT_EQ(to_string(timing.clock_events), "power_cap");
}

TEST(DeviceTimers, come_with_the_other_programs_that_any_block_met) {
  FakeGpu gpu;
  const GpuSharers sharers = gpu.measure(gpu.cell()).sharers;
  EXPECT_EQ(sharers.processes, 1);
  EXPECT_EQ(sharers.memory_bytes, 40);
}

TEST(DeviceTimers, are_asked_for_graphs_only_of_devices_that_have_them) {
  const auto device = make_cpu_device(1);
  const std::vector<TimedCell> cells{
      {"cell", CacheState::kCold, [](Stream&) {}, LaunchMode::kGraph}};
  EXPECT_THROW(static_cast<void>(measure_cells(cells, *device, {}, 1, {})), InternalError);
}

}  // namespace
}  // namespace attnbench
