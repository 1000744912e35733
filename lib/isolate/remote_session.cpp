// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/remote_session.h"

#include <chrono>
#include <exception>

#include "lib/isolate/fields.h"

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

  void warm_up(FirstSamples& first, double enough_s, double limit_s, const Stop&) override {
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

}  // namespace

RemoteSession::RemoteSession(const Case& c, int rounds, RemoteWorker& worker) : worker_(&worker) {
  worker.limit_steps();
  worker.post(
      "considering the case",
      {{"case", c.id}, {"part", c.step}, {"rounds", rounds}, {"sample_nonce", c.sample_nonce}});
}

RemoteSession::~RemoteSession() {
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

FormatChoice RemoteSession::supports() {
  const json answer = worker_->answer_to_posted();
  const auto layout = from_json_fields<KvLayout>(answer.at(1));
  if (answer.at(0) == "") return {Support::yes(), layout};
  return {Support::no(answer.at(0).get<std::string>()), layout};
}

void RemoteSession::begin_observing(const WantedRows& wanted) {
  worker_->post("verifying", {{"wanted", to_json_fields(wanted)}});
}

Observation RemoteSession::observe() {
  return from_json_fields<Observation>(worker_->answer_to_posted());
}

std::unique_ptr<SampleSource> RemoteSession::samples(CacheState cache, LaunchMode launch) {
  return std::make_unique<RemoteSamples>(*worker_, cells_++, cache, launch, BatchedGraph{});
}

std::unique_ptr<SampleSource> RemoteSession::batched_samples(CacheState cache, BatchedGraph graph) {
  return std::make_unique<RemoteSamples>(*worker_, cells_++, cache, LaunchMode::kGraph, graph);
}

}  // namespace attnbench
