// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/driver.h"
#include "lib/backend/testing/stub_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <new>
#include <optional>

#include "lib/base/error.h"
#include "lib/device/cuda/cuda_error.h"
#include "lib/fixture/testing/small_cases.h"
#include "lib/session/local_executor.h"
#include "reference/oracle.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

enum class Habit {
  kRight,
  kWrong,
  kThrowsInPlan,
  kThrowsWhenTimed,
  kRefuses,
  kWritesTooFar,
  kWrongAndThrows
};

/// Answers from the float64 reference, which only a test may do, and misbehaves as told. It finds
/// by itself what it was handed: the fill, and which requests of the case (verification also runs
/// some of them alone), by looking at the queries.
class Puppet : public StubBackend {
 public:
  Puppet(std::string name, Habit habit, const Case& c)
      : StubBackend(std::move(name)), habit_(habit), case_(&c) {
    info_.version = "1";
  }
  void moves_to(DeviceKind kind) { info_.device = kind; }
  void reads(KvLayout layout) { layout_ = layout; }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layout_ ? std::vector{*layout_} : Backend::formats(problem);
  }
  [[nodiscard]] Support supports(const Problem&) const override {
    return habit_ == Habit::kRefuses ? Support::no("does not feel like it") : Support::yes();
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    if (habit_ == Habit::kThrowsInPlan) throw std::runtime_error("plan: out of ideas");
    return std::make_unique<FunctionPlan>([this, &batch](Stream&) { answer(batch); });
  }

 private:
  /// Whether the query at token `t` is that of request `request`; a decode has one a request.
  [[nodiscard]] static bool is_query_of(std::size_t request, const Contents& contents,
                                        std::int64_t t, const AttentionTensors& io) {
    std::vector<float> row(static_cast<std::size_t>(io.q.shape[2]));
    for (int head = 0; head < io.q.shape[1]; ++head) {
      contents.q_row(static_cast<std::int64_t>(request), 0, head, row);
      for (std::size_t d = 0; d < row.size(); ++d) {
        const auto offset = static_cast<std::int64_t>(d) * size_bytes(io.q.dtype);
        if (load(io.q.dtype, io.q.row(t, head) + offset) != row[d]) return false;
      }
    }
    return true;
  }

  /// The case's requests that are this batch's with `contents`; fewer when one is not among them.
  [[nodiscard]] std::vector<std::int64_t> requests_of(const Contents& contents,
                                                      const AttentionTensors& io) const {
    std::vector<std::int64_t> found;
    for (std::size_t t = 0; t < kv_lens_.size(); ++t) {
      for (std::size_t r = 0; r < case_->requests.size(); ++r) {
        if (case_->requests[r].kv_len == kv_lens_[t] &&
            is_query_of(r, contents, static_cast<std::int64_t>(t), io)) {
          found.push_back(static_cast<std::int64_t>(r));
          break;
        }
      }
    }
    return found;
  }

  void recognise(const AttentionTensors& io) {
    for (const Fill fill : {Fill::kNeedle, Fill::kTag, Fill::kSparseInt, Fill::kExtreme,
                            Fill::kNormal, Fill::kTiming}) {
      fill_ = fill;
      if (evaluate(Contents(*case_, fill), io)) return;
    }
    constexpr std::int64_t kMostSamples = 1000;  // of all tests here
    for (std::int64_t number = 1; number <= kMostSamples; ++number) {
      if (evaluate(Contents(*case_, number), io)) return;
    }
    throw std::runtime_error("unknown contents");
  }

  /// False when the batch holds other contents.
  [[nodiscard]] bool evaluate(const Contents& contents, const AttentionTensors& io) {
    const std::vector<std::int64_t> requests = requests_of(contents, io);
    if (requests.size() != kv_lens_.size()) return false;
    std::vector<RowId> ids;
    for (const std::int64_t request : requests) {
      for (int h = 0; h < case_->layer.heads_q; ++h) ids.push_back({request, 0, h});
    }
    rows_ = reference::evaluate_rows(*case_, contents, ids);
    return true;
  }

  void answer(const ForwardBatch& batch) {
    const AttentionTensors& io = batch.tensors;
    if (layout_) expects(batch.token_to_kv_pool->layout == *layout_, "a cache in another layout");
    kv_lens_.clear();
    for (std::int64_t r = 0; r < batch.batch_size; ++r) kv_lens_.push_back(batch.kv_len(r));
    recognise(io);
    const bool throws = habit_ == Habit::kThrowsWhenTimed || habit_ == Habit::kWrongAndThrows;
    if (throws && fill_ == Fill::kTiming) {
      throw std::runtime_error("kernel launch failed");
    }
    if (habit_ == Habit::kWritesTooFar) {
      io.out.data[io.out.size() * size_bytes(io.out.dtype)] = std::byte{0};
    }
    const bool wrong = habit_ == Habit::kWrong || habit_ == Habit::kWrongAndThrows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ReferenceRow& row = rows_[i];
      const auto t = static_cast<std::int64_t>(i) / case_->layer.heads_q;
      for (std::size_t d = 0; d < row.out.size(); ++d) {
        const double value = wrong ? row.out[d] + 1 : row.out[d];
        store(io.out.dtype,
              io.out.row(t, row.id.head) + static_cast<std::int64_t>(d) * size_bytes(io.out.dtype),
              static_cast<float>(value));
      }
      store(DType::kF32, io.lse.row(t, row.id.head), static_cast<float>(row.lse));
    }
  }

  Habit habit_;
  std::optional<KvLayout> layout_;  ///< the only one that it reads
  const Case* case_;
  std::vector<std::int64_t> kv_lens_;  ///< of the batch that is run
  Fill fill_ = Fill::kNormal;
  std::vector<ReferenceRow> rows_;
};

class Driver : public testing::Test {
 protected:
  Driver() {
    devices_.push_back(make_cpu_device(1));
    scenario_.name = "driver";
    scenario_.path = "driver.yaml";
    scenario_.seed = 7;
    scenario_.cases = {small_plain_decode()};
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 3;
    scenario_.measure.block_s = 1e-4;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 1;
    scenario_.verify.fills = {"normal", "timing"};
  }

  void add(const std::string& name, Habit habit) {
    registry_.add([this, name, habit] {
      return std::make_unique<Puppet>(name, habit, scenario_.cases.front());
    });
  }
  RunResult run() {
    LocalExecutor executor(devices_, [this](Device& device) { return ceilings_of(device); });
    return run_scenario(scenario_, registry_, executor, filter_, hooks_);
  }
  /// Those of this machine, measured once for all tests: it takes half a second.
  Ceilings ceilings_of(Device& device) const {
    if (ceilings_) return *ceilings_;
    static const Ceilings measured = measure_ceilings(device);
    return measured;
  }

  std::string error_of_run() {
    try {
      static_cast<void>(run());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  std::optional<Ceilings> ceilings_;  ///< instead of the machine's own
  Devices devices_;
  Scenario scenario_;
  Registry registry_;
  RunFilter filter_;
  RunHooks hooks_;
};

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

TEST_F(Driver, times_a_wrong_backend_but_lets_it_claim_nothing) {
  add("wrong", Habit::kWrong);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_FALSE(r.reason().empty());
  EXPECT_TRUE(r.is_timed());
  EXPECT_EQ(r.gb_per_s(), 0);
  EXPECT_EQ(r.roofline, 0);
}

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

TEST_F(Driver, keeps_a_wrong_verdict_though_a_timed_forward_throws) {
  scenario_.verify.fills = {"normal"};  // so that verification does not meet the throw
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
    layouts.push_back(r.kv_cache.layout);
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
  EXPECT_EQ(r.kv_cache.layout, "x_packed");
}

TEST_F(Driver, calls_a_throw_while_verifying_a_crash) {
  add("timed", Habit::kThrowsWhenTimed);
  EXPECT_EQ(run().records.at(0).verdict(), Verdict::kCrashed);
}

TEST_F(Driver, records_a_refusal_with_its_reason) {
  add("refuses", Habit::kRefuses);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kUnsupported);
  EXPECT_EQ(r.reason(), "does not feel like it");
  EXPECT_EQ(r.timing.status, MeasureStatus::kNotMeasured);
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
    EXPECT_EQ(result.records[i].trouble(), Trouble::kNone);
  }
  EXPECT_EQ(result.records[1].verdict(), Verdict::kSkipped);
  EXPECT_EQ(result.records[1].trouble(), Trouble::kDefect);
  EXPECT_EQ(result.records[1].reason(), "attnbench itself failed: the reference is not finite");
}

TEST_F(Driver, keeps_its_results_whatever_is_thrown_while_a_case_is_worked_on) {
  add("right", Habit::kRight);
  scenario_.cases.resize(2, scenario_.cases.front());
  scenario_.cases[1].id = "second";
  const auto record_when_thrown = [&](const auto& thrown, const std::string& in_step) {
    bool second = false;
    hooks_.case_started = [&](const Case& c, const Cost&, std::size_t, std::size_t) {
      second = c.id == "second";
    };
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
    EXPECT_EQ(r.trouble(), Trouble::kDefect) << step;
    EXPECT_EQ(r.reason(), "attnbench itself failed: an exception without a message") << step;
    EXPECT_EQ(r.verdict(), Verdict::kSkipped) << step;
  }
  const Record no_memory = record_when_thrown(std::bad_alloc(), "float64 reference");
  EXPECT_EQ(no_memory.trouble(), Trouble::kEnvironment);
  EXPECT_EQ(no_memory.reason(), "out of memory");
}

TEST_F(Driver, keeps_a_wrong_verdict_though_it_fails_itself_later) {
  add("wrong", Habit::kWrong);
  hooks_.progress = [](const std::string& line, double) {
    if (line.find("round") != std::string::npos) throw std::logic_error("lost count");
  };
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_EQ(r.trouble(), Trouble::kDefect);
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
  hooks_.started = [&](const RunResult& header) { told = header.stand_ins; };
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
class Breaking : public Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return cpu_->info(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    if (broken) throw CudaError("cudaMalloc", "cudaErrorIllegalAddress", "an illegal access");
    return cpu_->allocate(bytes, what);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return cpu_->make_stream(); }
  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override {
    cpu_->copy_to_host(to, from, bytes);
  }
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override {
    cpu_->copy_from_host(to, from, bytes);
  }
  void flush_cache(Stream& stream) override { cpu_->flush_cache(stream); }
  void touch(Stream& stream, std::span<const std::byte> memory) override {
    cpu_->touch(stream, memory);
  }

  bool broken = false;

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
};

TEST_F(Driver, skips_what_is_left_for_a_device_that_is_lost) {
  add("right", Habit::kRight);
  for (const char* id : {"second", "third"}) {
    scenario_.cases.push_back(small_plain_decode());
    scenario_.cases.back().id = id;
  }
  auto device = std::make_unique<Breaking>();
  hooks_.case_started = [&, breaking = device.get()](const Case& c, const Cost&, std::size_t,
                                                     std::size_t) {
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

TEST_F(Driver, runs_an_idle_case) {
  scenario_.cases = {small_idle()};
  add("right", Habit::kRight);
  EXPECT_EQ(run().records.size(), 1u);
}

TEST(SelectCases, takes_ids_and_globs_in_file_order) {
  Scenario scenario;
  scenario.path = "s.yaml";
  for (const char* id : {"mla/ps1", "mla/ps64", "tree/ps1"}) {
    scenario.cases.emplace_back();
    scenario.cases.back().id = id;
  }
  const auto ids = [&](std::vector<std::string> patterns) {
    std::string text;
    for (const Case* c : select_cases(scenario, {std::move(patterns), {}})) text += c->id + " ";
    return text;
  };
  EXPECT_EQ(ids({}), "mla/ps1 mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"*/ps1"}), "mla/ps1 tree/ps1 ");
  EXPECT_EQ(ids({"tree*", "mla/ps64"}), "mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"mla/ps??"}), "mla/ps64 ");
  EXPECT_EQ(ids({"*a*p*4"}), "mla/ps64 ");
  try {
    ids({"mla/ps65"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no case of s.yaml matches 'mla/ps65'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'mla/ps64'?"));
    EXPECT_THAT(error.what(), HasSubstr("tree/ps1"));
  }
}

TEST(ReproLine, elides_defaults_and_quotes_for_the_shell) {
  Scenario scenario;
  scenario.path = "it's here.yaml";
  scenario.seed = 7;
  Record record;
  record.case_id = "mla/ps64";
  record.backend = "cpu_flash";
  EXPECT_EQ(repro_line(scenario, record),
            "attnbench run 'it'\\''s here.yaml' --case mla/ps64 --backend cpu_flash --cache cold "
            "--seed 7");
  scenario.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  scenario.verify.enabled = false;
  EXPECT_THAT(repro_line(scenario, record), HasSubstr("--launch eager --seed 7 --no-verify"));
}

TEST(Environment, names_the_machine_but_not_the_host) {
  const auto device = make_cpu_device(1);
  const Environment e = describe_environment(device->info());
  EXPECT_FALSE(e.version.empty());
  EXPECT_FALSE(e.git_sha.empty());
  EXPECT_FALSE(e.compiler.empty());
  EXPECT_FALSE(e.os.empty());
  EXPECT_EQ(e.hostname_hash.size(), 12u);
  EXPECT_EQ(e.started_utc.size(), 20u);
  EXPECT_EQ(e.started_utc.back(), 'Z');
}

}  // namespace
}  // namespace attnbench
