// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Steps whose prompts and decodes are computed in two forms of latent attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu_flash/cpu_flash.h"
#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

enum class Spoilt { kNothing, kPrompts, kDecodes, kTimedPrompts, kTimedDecodes };

/// Adds 1 to the first output after each run.
class SpoiltPlan final : public Plan {
 public:
  SpoiltPlan(std::unique_ptr<Plan> honest, const TensorView& out)
      : honest_(std::move(honest)), out_(out) {}
  void run(Stream& stream) override {
    honest_->run(stream);
    for (std::int64_t token = 0; token < out_.shape[0]; ++token) {
      for (std::int64_t head = 0; head < out_.shape[1]; ++head) {
        std::byte* const at = out_.row(token, head);
        store(out_.dtype, at, load(out_.dtype, at) + 1);
      }
    }
  }

 private:
  std::unique_ptr<Plan> honest_;
  TensorView out_;
};

/// Right, but for one of the forms, always or only in plans that are timed: those that are made
/// once verification has asked for the numerics, and the run has, too.
class SpoilsOneForm final : public Backend {
 public:
  explicit SpoilsOneForm(Spoilt spoilt) : spoilt_(spoilt) { info_.name = "spoils"; }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return honest_.formats(problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    ++asked_;
    return honest_.numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    std::unique_ptr<Plan> plan = honest_.plan(batch, memory);
    const bool decodes = batch.problem->layer.shares_row_of_k_and_v();
    const bool timed = asked_ > 1;
    const bool spoils =
        spoilt_ == (decodes ? Spoilt::kDecodes : Spoilt::kPrompts) ||
        (timed && spoilt_ == (decodes ? Spoilt::kTimedDecodes : Spoilt::kTimedPrompts));
    if (!spoils) return plan;
    return std::make_unique<SpoiltPlan>(std::move(plan), batch.tensors.out);
  }

 private:
  Spoilt spoilt_;
  BackendInfo info_;
  mutable int asked_ = 0;
  cpu_flash::CpuFlashBackend honest_;
};

class ComposedStep : public Driver {
 protected:
  Record record_of(Spoilt spoilt) {
    scenario_.cases = {small_composed_step()};
    scenario_.verify.rows = 32;
    scenario_.verify.fills = {Fill::kNormal};
    registry_.add([spoilt] { return std::make_unique<SpoilsOneForm>(spoilt); });
    const RunResult result = run();
    EXPECT_EQ(result.records.size(), 1u) << "one case, one verdict, one time";
    return result.records.at(0);
  }
};

TEST_F(ComposedStep, has_one_verdict_and_one_time_that_counts_both_forms) {
  const Record r = record_of(Spoilt::kNothing);
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_TRUE(r.is_timed());
  EXPECT_TRUE(r.is_composed);
  EXPECT_GT(r.samples_checked, 0);
  const Case c = small_composed_step();
  EXPECT_EQ(r.cost.flops, count_cost(c.parts[0]).flops + count_cost(c.parts[1]).flops);
}

TEST_F(ComposedStep, is_incorrect_where_its_prompts_are) {
  const Record r = record_of(Spoilt::kPrompts);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("composed_step:expanded: "));
}

TEST_F(ComposedStep, is_incorrect_where_its_decodes_are) {
  const Record r = record_of(Spoilt::kDecodes);
  EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
  EXPECT_THAT(r.reason(), HasSubstr("composed_step:absorbed: "));
}

TEST_F(ComposedStep, is_incorrect_where_either_form_is_wrong_in_what_is_timed_alone) {
  for (const Spoilt spoilt : {Spoilt::kTimedPrompts, Spoilt::kTimedDecodes}) {
    registry_ = {};
    const Record r = record_of(spoilt);
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
    EXPECT_THAT(r.reason(), HasSubstr("in timed sample"));
  }
}

TEST_F(ComposedStep, is_refused_with_the_form_that_a_backend_does_not_compute) {
  scenario_.cases = {small_composed_step()};
  add("refuses", Habit::kRefuses);
  const Record r = run().records.at(0);
  EXPECT_EQ(r.verdict(), Verdict::kUnsupported);
  EXPECT_EQ(r.reason(), "expanded prompts: reads no ragged cache, but NHD, HND, combined");
}

}  // namespace
}  // namespace attnbench
