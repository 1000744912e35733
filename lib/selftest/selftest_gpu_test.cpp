// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// The checks under test where backends are kernels and everything checked lies in GPU memory.
#include "lib/selftest/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lib/device/cuda/cuda_device.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

class SelftestGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    gpu_ = make_cuda_device();
  }

  Verification verify(const Case& c, Fault fault) {
    VerifyConfig config;
    config.rows = 256;
    MutantBackend backend(fault, DeviceKind::kCuda);
    Fixture fixture(c, *gpu_);
    return verify_backend(c, backend, fixture, *gpu_, compute_truth(c, config));
  }

  std::unique_ptr<Device> gpu_;
};

TEST_F(SelftestGpu, passes_the_correct_backend_on_every_kind_of_case) {
  for (const Case& c : all_small_cases()) {
    const Verification result = verify(c, Fault::kNone);
    EXPECT_EQ(result.verdict, Verdict::kPassed) << c.id << ": " << result.reason;
    EXPECT_EQ(result.bitwise.repeatable, 1) << c.id;
    EXPECT_EQ(result.bitwise.page_permutation_invariant, 1) << c.id;
    EXPECT_EQ(result.bitwise.batch_invariant, 1) << c.id;
    EXPECT_LT(result.error.rms_ratio, 2) << c.id;
    EXPECT_GT(result.error.bound_ratio, 0) << c.id;
  }
}

TEST_F(SelftestGpu, names_what_each_check_found) {
  const std::vector<std::pair<Fault, std::string>> findings{
      {Fault::kReadsTail, "a slot read that no request owns"},
      {Fault::kLeavesLastRow, "an output that was never written"},
      {Fault::kWritesBeyond, "guard bytes of 'out' changed on fill needle"},
      {Fault::kWritesBeyondWorkspace, "guard bytes of the workspace changed on fill needle"},
      {Fault::kWritesInput, "input 'k pool' was modified on fill needle"},
      {Fault::kDiffersBetweenRuns, "two runs differ in 1 element although"},
  };
  const Case c = selftest_cases().front();
  for (const auto& [fault, words] : findings) {
    const Verification result = verify(c, fault);
    EXPECT_EQ(result.verdict, Verdict::kIncorrect) << to_string(fault);
    EXPECT_THAT(result.reason, HasSubstr(words)) << to_string(fault);
  }
}

TEST_F(SelftestGpu, survives_a_launch_that_fails_and_names_it) {
  const Case c = selftest_cases().front();
  const Verification crashed = verify(c, Fault::kThrows);
  EXPECT_EQ(crashed.verdict, Verdict::kCrashed);
  // InvalidConfiguration in CUDA's manual, InvalidValue as seen with CUDA 13.
  EXPECT_THAT(crashed.reason, HasSubstr("on fill needle: mutant_rows: cudaErrorInvalid"));
  const Verification next = verify(c, Fault::kNone);
  EXPECT_EQ(next.verdict, Verdict::kPassed) << next.reason;
}

TEST_F(SelftestGpu, gives_the_verdicts_of_the_cpu_under_every_fault_and_fill) {
  const auto cpu = make_cpu_device();
  const SelftestMatrix there = run_selftest(*cpu, selftest_cases(), all_faults());
  const SelftestMatrix here = run_selftest(*gpu_, selftest_cases(), all_faults());
  EXPECT_TRUE(here.sound());
  EXPECT_FALSE(here.correct.blamed()) << here.correct.reason();
  // Those of recurrent layers, which come last, are the CPU's alone.
  const auto shared = std::ranges::count_if(
      there.mutants, [](const SelftestRow& row) { return !is_of_delta_net(row.fault); });
  ASSERT_EQ(std::ssize(here.mutants), shared);
  for (std::size_t m = 0; m < here.mutants.size(); ++m) {
    const SelftestRow& row = here.mutants[m];
    EXPECT_TRUE(row.blamed()) << to_string(row.fault);
    for (std::size_t f = 0; f < here.fills.size(); ++f) {
      const Verification& gpu = row.by_fill[f];
      const Verification& host = there.mutants[m].by_fill[f];
      EXPECT_EQ(gpu.verdict, host.verdict)
          << to_string(row.fault) << ", " << to_string(here.fills[f]) << "\n  GPU: " << gpu.reason
          << "\n  CPU: " << host.reason;
    }
  }
}

}  // namespace
}  // namespace attnbench
