// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lib/base/error.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/remote_worker.h"
#include "lib/isolate/session_calls.h"

namespace attnbench {
namespace {

using nlohmann::json;

constexpr const char* kConsidering = "considering the case";
constexpr const char* kVerifying = "verifying";

/// Reads what the child found in `step`. RemoteWorker::refuse_answer() where the answer is no such
/// thing.
template <class Found>
void read_answer(RemoteWorker& worker, const std::string& step, const json& answer, Found& found) {
  try {
    from_json_fields(answer, found);
  } catch (const json::exception& error) {
    worker.refuse_answer(step, error.what());
  } catch (const InternalError& error) {
    worker.refuse_answer(step, error.what());
  }
}

/// Whether a backend supports a case, as a worker says it.
struct SupportAnswer {
  std::string reason;  ///< empty: it does
  KvLayout layout = KvLayout::kNhd;
};

/// Has a child take the samples of one of its cells. The child is not asked to stop early: a run
/// that stops kills it.
class RemoteSamples final : public SampleSource {
 public:
  RemoteSamples(RemoteWorker& worker, int cell, CacheState cache, LaunchMode launch,
                BatchedGraph graph)
      : worker_(&worker), cell_(cell), cache_(cache), launch_(launch), graph_(graph) {}

  void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop&) override {
    found(first, "warming up",
          {{"cache", cache_},
           {"launch", launch_},
           {"batched_graph", to_json_fields(graph_)},
           {"enough_s", enough_s},
           {"limit_s", limit_s}});
  }
  void take(SampleBlock& block, int count, double left_s, const Stop&) override {
    block.passed_s = found(block, "taking samples", {{"count", count}, {"left_s", left_s}});
    // Asked for when the visit's time has been taken: lists of thousands of keys a sample take
    // milliseconds.
    if (block.passed_s > 0) found(block.outputs, "handing over outputs", {});
  }

 private:
  /// Seconds until the answer came, by this process's clock; 0 where the run was stopped.
  template <class Found>
  double found(Found& found, const char* step, json request) {
    request["cell"] = cell_;
    json before_failing;
    try {
      const auto asked = std::chrono::steady_clock::now();
      const json answer = worker_->ask(step, std::move(request), &before_failing);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - asked;
      read_answer(*worker_, step, answer, found);
      return passed.count();
    } catch (const RunStopped&) {
      return 0;
    } catch (const std::runtime_error&) {
      if (!before_failing.is_null()) read_answer(*worker_, step, before_failing, found);
      throw;
    }
  }

  RemoteWorker* worker_;
  int cell_;
  CacheState cache_;
  LaunchMode launch_;
  BatchedGraph graph_;  ///< none: one forward a sample
};

/// A session in a child process.
class RemoteSession final : public Session {
 public:
  RemoteSession(const Case& c, int rounds, RemoteWorker& worker) : worker_(&worker) {
    worker.limit_steps();
    worker.post(
        kConsidering,
        {{"case", c.id}, {"part", c.step}, {"rounds", rounds}, {"sample_nonce", c.sample_nonce}});
  }

  ~RemoteSession() override {
    if (!worker_->trusted()) {
      worker_->retire();
      return;
    }
    try {
      worker_->ask("leaving the case");
    } catch (const std::exception&) {
      // ask() has marked the child as failed.
    }
  }

  [[nodiscard]] FormatChoice supports() override {
    SupportAnswer answer;
    read_answer(*worker_, kConsidering, worker_->answer_to_posted(), answer);
    if (answer.reason.empty()) return {Support::yes(), answer.layout};
    return {Support::no(answer.reason), answer.layout};
  }
  [[nodiscard]] std::vector<Numerics> numerics() override { return call(&Session::numerics); }
  void begin_observing(const WantedRows& wanted) override {
    worker_->post(kVerifying, {{"wanted", to_json_fields(wanted)}});
  }
  [[nodiscard]] Observation observe() override {
    Observation found;
    read_answer(*worker_, kVerifying, worker_->answer_to_posted(), found);
    return found;
  }
  void repair_fixture() override { call(&Session::repair_fixture); }
  [[nodiscard]] std::string fill_for_timing() override { return call(&Session::fill_for_timing); }
  [[nodiscard]] PlanCost plan() override { return call(&Session::plan); }
  [[nodiscard]] RecordedPlan plan_recorded() override { return call(&Session::plan_recorded); }
  [[nodiscard]] IndexTiming time_indices() override { return call(&Session::time_indices); }
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache,
                                                      LaunchMode launch) override {
    return std::make_unique<RemoteSamples>(*worker_, cells_++, cache, launch, BatchedGraph{});
  }
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState cache,
                                                              BatchedGraph graph) override {
    return std::make_unique<RemoteSamples>(*worker_, cells_++, cache, LaunchMode::kGraph, graph);
  }
  [[nodiscard]] std::string finish() override { return call(&Session::finish); }

 private:
  /// Has the child make this call (session_calls.h).
  template <class Result>
  Result call(Result (Session::*method)()) {
    const char* const step = name_of_call(method);
    const json answer = worker_->ask(step);
    if constexpr (!std::is_void_v<Result>) {
      Result found{};
      read_answer(*worker_, step, answer, found);
      return found;
    }
  }

  RemoteWorker* worker_;
  int cells_ = 0;
};

}  // namespace

std::unique_ptr<Session> begin_remote_session(const Case& c, int rounds, RemoteWorker& worker) {
  return std::make_unique<RemoteSession>(c, rounds, worker);
}

}  // namespace attnbench
