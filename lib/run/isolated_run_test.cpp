// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// This program is its own worker: main() is at the end.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/torch_native/torch_native.h"
#include "lib/base/error.h"
#include "lib/isolate/channel.h"
#include "lib/isolate/isolated_executor.h"
#include "lib/isolate/worker.h"
#include "lib/run/driver.h"
#include "lib/run/testing/planted_backend.h"
#include "lib/selftest/timed_mutant.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Ends by the signal's default, whatever a sanitizer would make of it, and leaves no core file.
void die_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// In the harness's place: what a plug-in that knows its descriptor can do.
void answer(const nlohmann::json& message) { Channel(dup(kWorkerDescriptor)).send(message, {}); }

void wait_for_ever() {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// Of the run whose child this process is.
std::string meeting_place(pid_t run) {
  return testing::TempDir() + "isolate_meeting_" + std::to_string(run) + "/";
}

/// Waits for the other child.
void meet(const std::string& me, const std::string& other) {
  const std::string place = meeting_place(getppid());
  std::ofstream(place + me) << "here";
  for (int i = 0; i < 400 && !std::filesystem::exists(place + other); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (!std::filesystem::exists(place + other)) throw std::runtime_error(other + " did not come");
}

void add(Registry& registry, const std::string& name, const Misdeeds& misdeeds) {
  registry.add([name, misdeeds] {
    return std::make_unique<PlantedBackend>(
        name, std::make_unique<torch_native::TorchNativeBackend>(), misdeeds);
  });
}

/// The same in the run and in its workers.
Registry planted_registry() {
  Registry registry;
  add(registry, "honest", {});
  add(registry, "segfaults", {{}, [](AttentionTensors&) { die_by(SIGSEGV); }});
  add(registry, "aborts", {[] { die_by(SIGABRT); }, {}});
  add(registry, "exits", {{}, [](AttentionTensors&) { std::_Exit(0); }});
  add(registry, "throws",
      {{}, [](AttentionTensors&) { throw std::runtime_error("out of ideas"); }});
  add(registry, "throws_an_int", {[] { throw 7; }, {}});
  add(registry, "hangs", {{}, [](AttentionTensors&) { wait_for_ever(); }});
  add(registry, "prints", {{}, [](AttentionTensors&) {
                             std::puts("{\"answer\":null,\"bytes\":0}");
                             std::fflush(stdout);
                           }});
  add(registry, "answers_another_shape", {{}, [](AttentionTensors&) {
                                            answer({{"answer", {"two", 1}}});
                                          }});
  add(registry, "answers_no_error", {{}, [](AttentionTensors&) { answer({{"error", 7}}); }});
  add(registry, "also_honest", {});
  add(registry, "meets_another", {{}, {}, [] { meet("one", "another"); }});
  add(registry, "meets_one", {{}, {}, [] { meet("another", "one"); }});
  registry.add([] {
    return std::make_unique<TimedMutant>(TimedFault::kComputesAllInOne, DeviceKind::kCpu);
  });
  return registry;
}

constexpr const char* kScenario = R"(
seed: 7
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 16}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  first: {batch: [{count: 3, mode: decode, kv_len: 33}]}
  second: {batch: [{count: 2, mode: extend, prefix_len: 9, q_len: 5}]}
measure: {cache: [warm], rounds: [6, 6], samples: [1, 3]}
verify: {rows: 32}
)";

class Isolate : public testing::Test {
 protected:
  Isolate() {
    // Six rounds converge on any machine: on a busy one an interval can be wider than its median.
    scenario_.measure.precision = 1e6;
  }
  RunResult run(std::vector<std::string> backends, double timeout_s = 60) {
    filter_.backends = std::move(backends);
    Isolation isolation;
    isolation.ceiling_turns = 1;
    isolation.timeout_s = timeout_s;
    isolation.devices.threads = 1;
    isolation.stop_requested = hooks_.stop_requested;
    isolation.notice_s = 1;
    isolation.note = [this](const std::string& text) { notes_.push_back(text); };
    IsolatedExecutor executor(scenario_, isolation);
    executor_ = &executor;
    return run_scenario(scenario_, plan_run(scenario_, registry_, filter_), executor, hooks_);
  }
  RunResult run_here(std::vector<std::string> backends) {
    filter_.backends = std::move(backends);
    Devices devices;
    devices.push_back(make_cpu_device(1));
    LocalExecutor executor(devices, 1);
    return run_scenario(scenario_, plan_run(scenario_, registry_, filter_), executor, hooks_);
  }
  /// Of one backend, in case order.
  static std::vector<Record> of(const RunResult& result, const std::string& backend) {
    std::vector<Record> records;
    for (const Record& r : result.records) {
      if (r.backend == backend) records.push_back(r);
    }
    return records;
  }
  static void expect_well(const std::vector<Record>& records) {
    ASSERT_FALSE(records.empty());
    for (const Record& r : records) {
      EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
      EXPECT_EQ(r.timing.status, MeasureStatus::kConverged) << r.reason();
      EXPECT_EQ(r.timing.rounds, 6);
      EXPECT_GT(r.timing.median_us, 0);
      EXPECT_GT(r.plan.max_us, 0);
    }
  }
  static void expect_crashed(const std::vector<Record>& records, const std::string& reason) {
    ASSERT_FALSE(records.empty());
    for (const Record& r : records) {
      EXPECT_EQ(r.verdict(), Verdict::kCrashed);
      EXPECT_THAT(r.reason(), HasSubstr(reason));
      EXPECT_FALSE(r.is_timed());
      EXPECT_THAT(r.repro, HasSubstr("--backend " + r.backend));
    }
  }

  Scenario scenario_ = parse_scenario(kScenario, "isolate.yaml");
  Registry registry_ = planted_registry();
  RunFilter filter_;
  RunHooks hooks_;
  std::vector<std::string> notes_;
  IsolatedExecutor* executor_ = nullptr;  ///< while it runs
};

TEST_F(Isolate, has_the_timed_samples_of_a_child_compared_by_the_run) {
  const std::string mutant(to_string(TimedFault::kComputesAllInOne));
  const RunResult result = run({"honest", mutant});
  for (const Record& r : of(result, "honest")) EXPECT_GE(r.samples_checked, 4) << r.reason();
  const std::vector<Record> wrong = of(result, mutant);
  ASSERT_EQ(wrong.size(), 2u);
  for (const Record& r : wrong) {
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
    EXPECT_THAT(r.reason(), HasSubstr("in timed sample "));
    EXPECT_EQ(r.gb_per_s(), 0);
  }
}

TEST_F(Isolate, gives_the_second_of_a_pair_a_process_of_its_own) {
  scenario_.measure.aa = true;
  const RunResult result = run({"honest"});
  EXPECT_EQ(of(result, "honest").size(), 2u);
  const std::vector<Record> seconds = of(result, "honest#2");
  expect_well(seconds);
  for (const Record& second : seconds) {
    EXPECT_EQ(second.aa.pairs, 6);
    EXPECT_GT(second.aa.median, 0);
    EXPECT_THAT(second.repro, HasSubstr("--backend honest --cache warm --seed 7 --aa"));
  }
  EXPECT_EQ(of(result, "honest")[0].aa.pairs, 0);
}

TEST_F(Isolate, finds_what_a_run_without_it_finds) {
  const RunResult apart = run({"honest", "also_honest"});
  const RunResult here = run_here({"honest", "also_honest"});
  ASSERT_EQ(apart.records.size(), here.records.size());
  for (std::size_t i = 0; i < here.records.size(); ++i) {
    const Record &a = apart.records[i], &b = here.records[i];
    EXPECT_EQ(a.case_id, b.case_id);
    EXPECT_EQ(a.backend, b.backend);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.verdict(), b.verdict()) << a.reason();
    EXPECT_EQ(a.timing.status, b.timing.status);
    EXPECT_EQ(a.fixture_hash, b.fixture_hash);
    EXPECT_EQ(a.fixture_hash.size(), 16u);
    EXPECT_EQ(a.error.max_abs, b.error.max_abs);
    EXPECT_EQ(a.error.bound_ratio, b.error.bound_ratio);
    EXPECT_EQ(a.error.rows, b.error.rows);
    EXPECT_EQ(a.error.worst.token, b.error.worst.token);
    EXPECT_EQ(a.bitwise.batch_invariant, b.bitwise.batch_invariant);
    EXPECT_EQ(a.timing.rounds, b.timing.rounds);
    EXPECT_EQ(a.repro, b.repro);
  }
  expect_well(of(apart, "honest"));
  EXPECT_GT(apart.ceilings.read_bytes_per_s, 0);
  EXPECT_EQ(apart.environment.device.name, here.environment.device.name);
}

TEST_F(Isolate, visits_cells_in_the_order_of_a_run_without_it) {
  std::vector<std::string> lines;
  hooks_.progress = [&](const std::string& line, double) {
    if (line.find("round") != std::string::npos) lines.push_back(line.substr(0, line.find(" · ±")));
  };
  static_cast<void>(run({"honest", "also_honest"}));
  const std::vector<std::string> apart = std::exchange(lines, {});
  static_cast<void>(run_here({"honest", "also_honest"}));
  EXPECT_EQ(apart, lines);
  EXPECT_EQ(apart.size(), 24u);  // 2 cases x 2 cells x 6 rounds
}

TEST_F(Isolate, outlives_whatever_a_backend_does) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const RunResult result =
      run({"segfaults", "aborts", "exits", "honest", "throws", "throws_an_int", "prints"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");  // results are to go there
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("{\"answer\":null,\"bytes\":0}"));
  ASSERT_EQ(result.records.size(), 14u);
  expect_crashed(of(result, "segfaults"), "was killed by signal 11 (SIGSEGV) while verifying");
  expect_crashed(of(result, "aborts"), "was killed by signal 6 (SIGABRT) while verifying");
  expect_crashed(of(result, "exits"), "exited with code 0 while verifying");
  expect_crashed(of(result, "throws"), "out of ideas");
  expect_crashed(of(result, "throws_an_int"),
                 "planning: threw something that is no std::exception");
  expect_well(of(result, "honest"));
  expect_well(of(result, "prints"));
}

TEST_F(Isolate, blames_a_backend_for_an_answer_of_another_shape) {
  const RunResult result = run({"answers_another_shape", "honest", "answers_no_error"});
  for (const char* name : {"answers_another_shape", "answers_no_error"}) {
    expect_crashed(of(result, name), "its process gave an answer that is none while verifying: ");
  }
  expect_well(of(result, "honest"));
}

TEST_F(Isolate, names_the_step_in_which_a_child_died) {
  scenario_.verify.enabled = false;
  const RunResult result = run({"aborts", "segfaults", "throws_an_int"});
  expect_crashed(of(result, "throws_an_int"), "threw something that is no std::exception");
  expect_crashed(of(result, "aborts"), "was killed by signal 6 (SIGABRT) while planning");
  expect_crashed(of(result, "segfaults"),
                 "while timed: its process was killed by signal 11 (SIGSEGV) while warming up");
}

TEST_F(Isolate, waits_for_a_hanging_backend_no_longer_than_told) {
  filter_.cases = {"first"};
  const RunResult result = run({"hangs", "honest"}, 4);
  expect_crashed(of(result, "hangs"), "gave no answer within 4 s while verifying (--timeout)");
  EXPECT_THAT(notes_, testing::Contains("hangs has given no answer for 1 s while verifying; "
                                        "--timeout, 4 s now, ends its process"));
  expect_well(of(result, "honest"));
  EXPECT_LT(result.wall_s, 4 + 20);  // and the time of a busy machine
}

TEST_F(Isolate, keeps_what_a_child_measured_before_it_died) {
  scenario_.measure.cache = {CacheState::kCold, CacheState::kWarm};
  std::string done;  // the cell that ends first
  hooks_.progress = [&](const std::string& line, double) {
    if (!done.empty() || line.find("round 6") == std::string::npos) return;
    done = line.substr(0, line.find(" · round"));
    ASSERT_EQ(executor_->children().size(), 1u);
    kill(executor_->children().front(), SIGKILL);
  };
  const RunResult result = run({"honest"});
  ASSERT_EQ(result.records.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Record& r = result.records[i];
    if (done == "honest · " + std::string(to_string(r.cache))) {
      EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
      EXPECT_EQ(r.timing.status, MeasureStatus::kConverged);
    } else {
      EXPECT_EQ(r.verdict(), Verdict::kCrashed);
      EXPECT_THAT(r.reason(), HasSubstr("was killed by signal 9 (SIGKILL)"));
      EXPECT_THAT(r.reason(), HasSubstr("while taking samples"));
    }
  }
  for (std::size_t i = 2; i < 4; ++i) {  // the second case gets a new child
    EXPECT_EQ(result.records[i].verdict(), Verdict::kPassed) << result.records[i].reason();
  }
}

TEST_F(Isolate, stops_when_asked_to_though_a_backend_hangs) {
  using std::chrono::steady_clock;
  steady_clock::time_point verifying{};
  hooks_.progress = [&](const std::string& line, double) {
    if (line.find("hangs · verifying") == 0) verifying = steady_clock::now();
  };
  hooks_.stop_requested = [&] {
    return verifying != steady_clock::time_point{} &&
           steady_clock::now() - verifying > std::chrono::milliseconds(300);
  };
  filter_.cases = {"first"};
  const RunResult first = run({"honest", "hangs"}, 600);
  ASSERT_EQ(first.records.size(), 2u);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.records[0].timing.status, MeasureStatus::kInterrupted);
  EXPECT_EQ(first.records[1].timing.status, MeasureStatus::kInterrupted);
  EXPECT_EQ(first.records[1].verdict(), Verdict::kSkipped);
  EXPECT_LT(first.wall_s, 60);
}

TEST_F(Isolate, lets_an_error_of_attnbench_cost_one_case_only) {
  std::string now;
  hooks_.case_started = [&](const Case& c, const Cost&) { now = c.id; };
  hooks_.progress = [&](const std::string& line, double) {
    if (now == "first" && line == "honest · verifying") throw std::logic_error("lost count");
  };
  const RunResult result = run({"honest"});
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[0].harness_error(), HarnessError::kDefect);
  EXPECT_EQ(result.records[0].reason(), "attnbench itself failed: lost count");
  EXPECT_EQ(result.records[1].verdict(), Verdict::kPassed) << result.records[1].reason();
}

TEST_F(Isolate, keeps_a_finished_case_when_stopped_in_the_next) {
  bool stop = false;
  hooks_.case_finished = [&](const Case&) { stop = true; };
  hooks_.stop_requested = [&] { return stop; };
  const RunResult result = run({"honest"});
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[0].verdict(), Verdict::kPassed);
  EXPECT_TRUE(result.records[0].is_timed());
  EXPECT_EQ(result.records[1].reason(), "interrupted");
}

TEST_F(Isolate, leaves_no_child_behind) {
  std::vector<pid_t> seen;
  hooks_.case_finished = [&](const Case&) {
    for (const pid_t pid : executor_->children()) seen.push_back(pid);
  };
  filter_.cases = {"first"};  // each that hangs takes the time allowed
  static_cast<void>(run({"honest", "segfaults", "hangs"}, 4));
  EXPECT_FALSE(seen.empty());
  for (const pid_t pid : seen) EXPECT_EQ(kill(pid, 0), -1) << pid;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Isolate, has_its_children_start_and_consider_a_case_at_the_same_time) {
  std::filesystem::create_directory(meeting_place(getpid()));
  const RunResult result = run({"meets_another", "meets_one"});
  std::filesystem::remove_all(meeting_place(getpid()));
  expect_well(of(result, "meets_another"));
  expect_well(of(result, "meets_one"));
}

TEST_F(Isolate, calls_a_worker_of_another_program_a_defect) {
  add(registry_, "unknown_there", {});
  EXPECT_THROW(static_cast<void>(run({"unknown_there"})), InternalError);
}

}  // namespace
}  // namespace attnbench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == attnbench::kWorkerCommand) {
    return attnbench::run_worker(attnbench::planted_registry(), std::atoi(argv[2]));
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
