// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/kept_ceilings.h"
#include "lib/session/local_executor.h"
#include "reference/oracle.h"

namespace attnbench {

/// What a Puppet does.
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
    if (evaluate(checked_contents(*case_, Fill::kTiming), io)) return;
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

/// A run of one small case with puppets for backends.
class Driver : public testing::Test {
 protected:
  Driver() {
    devices_.push_back(make_cpu_device(1));
    scenario_.name = "driver";
    scenario_.path = "driver.yaml";
    scenario_.seed = 7;
    scenario_.cases = {small_plain_decode()};
    scenario_.measure.cache = {
        CacheState::kWarm};  // to flush a cache takes longer than all the rest
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 3;
    scenario_.measure.block_s = 1e-4;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 1;
    scenario_.verify.fills = {Fill::kNormal, Fill::kTiming};
  }

  void add(const std::string& name, Habit habit) {
    registry_.add([this, name, habit] {
      return std::make_unique<Puppet>(name, habit, scenario_.cases.front());
    });
  }
  RunResult run() {
    LocalExecutor executor(
        devices_, [this](Device& device) { return ceilings_of(device); }, 1, kept_);
    return run_scenario(scenario_, plan_run(scenario_, registry_, filter_), executor, hooks_);
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
  KeptCeilings kept_;                 ///< of earlier runs; none
  Devices devices_;
  Scenario scenario_;
  Registry registry_;
  RunFilter filter_;
  RunHooks hooks_;
};

}  // namespace attnbench
