// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What the first plan and run of a case take, and which kernel a library chose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

constexpr std::chrono::milliseconds kPause{30};

/// Another's plan, under a name, whose first run waits as if it compiled a kernel.
class Compiled final : public Plan {
 public:
  Compiled(std::unique_ptr<Plan> plan, bool& compiled)
      : plan_(std::move(plan)), compiled_(&compiled) {}
  void run(Stream& stream) override {
    if (!std::exchange(*compiled_, true)) std::this_thread::sleep_for(kPause);
    plan_->run(stream);
  }
  [[nodiscard]] std::string kernel() const override { return "engine 5"; }

 private:
  std::unique_ptr<Plan> plan_;
  bool* compiled_;
};

/// Answers right; its first plan waits, too.
class Compiling final : public Puppet {
 public:
  explicit Compiling(const Case& c) : Puppet("compiling", Habit::kRight, c) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (!std::exchange(planned_, true)) std::this_thread::sleep_for(kPause);
    return std::make_unique<Compiled>(Puppet::plan(batch, memory), compiled_);
  }

 private:
  bool planned_ = false, compiled_ = false;
};

class FirstUseOfACase : public Driver {
 protected:
  Record record() {
    registry_.add([this] { return std::make_unique<Compiling>(scenario_.cases.front()); });
    return run().records.at(0);
  }
};

TEST_F(FirstUseOfACase, is_timed_with_what_its_first_plan_and_run_wait_for) {
  const Record r = record();
  EXPECT_TRUE(r.claims_speed()) << r.reason();
  EXPECT_GE(r.first_use_us, 2 * std::chrono::microseconds(kPause).count());
  EXPECT_LT(r.plan.median_us, std::chrono::microseconds(kPause).count());
}

TEST_F(FirstUseOfACase, is_not_known_without_verification) {
  scenario_.verify.enabled = false;
  EXPECT_EQ(record().first_use_us, 0);
}

TEST_F(FirstUseOfACase, tells_which_kernel_a_library_chose) {
  EXPECT_EQ(record().kernel, "engine 5");
}

}  // namespace
}  // namespace attnbench
