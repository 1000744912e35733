// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/indexer/indexer.h"
#include "backends/topk/topk.h"
#include "backends/torch_native/torch_native.h"
#include "lib/run/driver.h"
#include "lib/run/planned_run.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_executor.h"
#include "lib/session/pipeline_entry.h"

// Runs of pipelines of backends of a CPU, right ones and spoilt ones.
namespace attnbench {

/// What a spoilt member does beside its work.
struct Spoiling {
  std::function<void(ForwardBatch&)> when_planned = [](ForwardBatch&) {};
  std::function<void(const ForwardBatch&)> before = [](const ForwardBatch&) {};
  std::function<void(const ForwardBatch&)> after = [](const ForwardBatch&) {};
};

/// A member that reads a batch of its own, which may be changed.
class StagePlan final : public Plan {
 public:
  StagePlan(Backend& honest, const ForwardBatch& batch, PlanMemory& memory, Spoiling spoiling)
      : spoiling_(std::move(spoiling)), batch_(batch) {
    spoiling_.when_planned(batch_);
    plan_ = honest.plan(batch_, memory);
  }
  void run(Stream& stream) override {
    spoiling_.before(batch_);
    plan_->run(stream);
    spoiling_.after(batch_);
  }

 private:
  Spoiling spoiling_;
  ForwardBatch batch_;
  std::unique_ptr<Plan> plan_;
};

template <class Honest>
class SpoiltStage final : public Backend {
 public:
  explicit SpoiltStage(std::function<Spoiling()> make)
      : make_(std::move(make)), info_(honest_.info()) {
    info_.name = "spoilt";
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return honest_.formats(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<StagePlan>(honest_, batch, memory, make_());
  }

 private:
  std::function<Spoiling()> make_;
  Honest honest_;
  BackendInfo info_;
};

/// Runs of a plan before its first timed sample, and some more.
inline constexpr int kBeforeSamples = 24;

/// Decodes of which one is shorter than a list, by all pipelines of the backends of a CPU.
class PipelineRun : public testing::Test {
 protected:
  PipelineRun() {
    devices_.push_back(make_cpu_device(1));
    run_.scenario.name = "pipeline";
    Case c = small_plain_decode();
    c.kv_cache.page_size = 16;
    c.layer.selection = {.topk = 16, .index_heads = 4};
    for (std::int64_t i = 0; i < std::ssize(c.requests); ++i) {
      c.requests[static_cast<std::size_t>(i)].kv_len = i == 1 ? 9 : 300 + i;
    }
    run_.scenario.cases = {c};
    run_.scenario.verify.rows = 64;
    MeasureConfig& measure = run_.scenario.measure;
    measure.step = {StepPart::kPipeline};
    measure.cache = {CacheState::kWarm};
    measure.min_rounds = measure.max_rounds = 12;
    measure.block_s = 0;
    measure.min_block_samples = measure.max_block_samples = 4;
    run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
    run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
    run_.registry.add([] { return std::make_unique<cpu_flash::CpuFlashBackend>(); });
    run_.registry.add([] { return std::make_unique<torch_native::TorchNativeBackend>(); });
  }
  std::vector<Record> records() {
    add_pipelines(run_);
    run_.plan = plan_run(run_.scenario, run_.registry, run_.filter);
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(run_.scenario, run_.plan, executor, {}).records;
  }
  /// The record of the one pipeline that `name` names.
  Record record_of(const std::string& name) {
    add_pipeline(run_.registry, name);
    run_.filter.backends = {name};
    const std::vector<Record> all = records();
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }
  template <class Honest>
  std::string reason_of(const std::string& name, std::function<Spoiling()> make) {
    run_.registry.add([=] { return std::make_unique<SpoiltStage<Honest>>(make); });
    const Record r = record_of(name);
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect) << r.reason();
    return r.reason();
  }

  Devices devices_;
  PlannedRun run_;
};

}  // namespace attnbench
