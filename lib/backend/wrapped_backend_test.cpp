// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/wrapped_backend.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "lib/device/device.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

class OtherPlan final : public Plan {
 public:
  explicit OtherPlan(std::vector<std::string>& calls) : calls_(calls) {}
  void run(Stream&) override { calls_.emplace_back("run"); }
  [[nodiscard]] void* graph() override { return &calls_; }
  [[nodiscard]] std::string kernel() const override { return "engine 5"; }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream&) override {
    return batch.batch_size == 3;
  }

 private:
  std::vector<std::string>& calls_;
};

/// Answers each question by the number of heads that the problem has.
class OtherBackend final : public Backend {
 public:
  explicit OtherBackend(std::vector<std::string>& calls) : calls_(calls) { info_.name = "other"; }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return Support::no(std::to_string(problem.layer.heads_q));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return {problem.layer.heads_q == 7 ? KvLayout::kXPacked : KvLayout::kNhd};
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return {.partial_roundings = problem.layer.heads_q};
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return std::make_unique<OtherPlan>(calls_);
  }

 private:
  std::vector<std::string>& calls_;
  BackendInfo info_;
};

class SevenHeads final : public WrappedBackend {
 public:
  explicit SevenHeads(std::unique_ptr<Backend> kernels) : WrappedBackend(std::move(kernels)) {
    own_info().name += ":seven";
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    Problem seven = problem;
    seven.layer.heads_q = 7;
    return seven;
  }
};

TEST(WrappedPlan, DoesWhatTheOtherPlanDoes) {
  std::vector<std::string> calls;
  WrappedPlan plan(std::make_unique<OtherPlan>(calls));
  const auto device = make_cpu_device();
  const auto stream = device->make_stream();
  plan.run(*stream);
  EXPECT_THAT(calls, ElementsAre("run"));
  EXPECT_EQ(plan.graph(), &calls);
  EXPECT_EQ(plan.kernel(), "engine 5");
  ForwardBatch batch;
  EXPECT_FALSE(plan.update(batch, *stream));
  batch.batch_size = 3;
  EXPECT_TRUE(plan.update(batch, *stream));
}

TEST(WrappedBackend, AsksTheOtherBackendAboutItsOwnProblem) {
  std::vector<std::string> calls;
  SevenHeads backend(std::make_unique<OtherBackend>(calls));
  EXPECT_EQ(backend.info().name, "other:seven");
  EXPECT_EQ(backend.supports({}).reason(), "7");
  EXPECT_THAT(backend.formats({}), ElementsAre(KvLayout::kXPacked));
  EXPECT_EQ(backend.numerics({}).partial_roundings, 7);
  const auto device = make_cpu_device();
  PlanMemory memory(*device);
  EXPECT_EQ(backend.plan({}, memory)->kernel(), "engine 5");
}

std::string text_of(const char* header) {
  std::ifstream file(std::string(ATTNBENCH_SOURCE_DIR "/lib/backend/") + header);
  EXPECT_TRUE(file) << header;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "    virtual std::string kernel() const" declares kernel.
TEST(WrappedBackend, ForwardsEveryVirtualMethodOfTheContract) {
  const std::string contract = text_of("backend.h"), wrapper = text_of("wrapped_backend.h");
  const std::regex method(R"(virtual [^;{(]*?(\w+)\()");
  int found = 0;
  for (std::sregex_iterator at(contract.begin(), contract.end(), method), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if ((*at)[0].str().find('~') != std::string::npos) continue;
    const std::regex override(" " + name + R"(\([^;{]*\boverride\b)");
    EXPECT_TRUE(std::regex_search(wrapper, override)) << name << "() is not forwarded";
    ++found;
  }
  EXPECT_EQ(found, 9) << "methods of Plan and Backend; change it with them";
}

}  // namespace
}  // namespace attnbench
