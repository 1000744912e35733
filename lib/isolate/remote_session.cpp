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

#include "lib/isolate/fields.h"
#include "lib/isolate/remote_worker.h"
#include "lib/isolate/session_calls.h"

namespace attnbench {
namespace {

using nlohmann::json;

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
      from_json_fields(answer, found);
      return passed.count();
    } catch (const RunStopped&) {
      return 0;
    } catch (const std::runtime_error&) {
      if (!before_failing.is_null()) from_json_fields(before_failing, found);
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
        "considering the case",
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
    const json answer = worker_->answer_to_posted();
    const auto layout = from_json_fields<KvLayout>(answer.at(1));
    if (answer.at(0) == "") return {Support::yes(), layout};
    return {Support::no(answer.at(0).get<std::string>()), layout};
  }
  [[nodiscard]] std::vector<Numerics> numerics() override { return call(&Session::numerics); }
  void begin_observing(const WantedRows& wanted) override {
    worker_->post("verifying", {{"wanted", to_json_fields(wanted)}});
  }
  [[nodiscard]] Observation observe() override {
    return from_json_fields<Observation>(worker_->answer_to_posted());
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
    const json answer = worker_->ask(name_of_call(method));
    if constexpr (!std::is_void_v<Result>) return from_json_fields<Result>(answer);
  }

  RemoteWorker* worker_;
  int cells_ = 0;
};

}  // namespace

std::unique_ptr<Session> begin_remote_session(const Case& c, int rounds, RemoteWorker& worker) {
  return std::make_unique<RemoteSession>(c, rounds, worker);
}

}  // namespace attnbench
