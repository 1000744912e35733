// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// `attnbench selftest`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/selftest/fault.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, tests_itself_on_each_device_and_says_why_one_is_left_out) {
  EXPECT_EQ(run({"selftest"}), 0) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("\ncpu: "), std::string::npos) << out_.str();
  const std::string verdict = fmt::format("ok: all {} faults caught", all_faults().size());
  EXPECT_NE(out_.str().find(verdict), std::string::npos) << out_.str();
  const std::string absence = cuda_absence();
  const std::string gpu = absence.empty() ? "\ncuda: " : "\ncuda: not tested: " + absence + "\n";
  EXPECT_NE(out_.str().find(gpu), std::string::npos) << out_.str();
}

TEST_F(CommandLine, tests_itself_on_the_one_device_asked_for) {
  EXPECT_EQ(run({"selftest", "--device", "cpu", "--reasons"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("\ncpu: "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("guard bytes of 'out' changed"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("cuda"), std::string::npos) << out_.str();
  const std::string absence = cuda_absence();
  EXPECT_EQ(run({"selftest", "--device", "cuda"}), absence.empty() ? 0 : 5) << err_.str();
  EXPECT_EQ(out_.str().find("cpu"), std::string::npos) << out_.str();
  EXPECT_EQ(err_.str(), absence.empty() ? "" : "error: " + absence + "\n");
}

TEST_F(CommandLine, exits_4_when_the_selftest_is_asked_for_a_device_of_no_such_kind) {
  EXPECT_EQ(run({"selftest", "--device", "gpu"}), 4);
  EXPECT_NE(err_.str().find("--device"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("cuda"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, writes_the_selftest_as_json_a_matrix_per_device) {
  EXPECT_EQ(run({"selftest", "--format", "json"}), 0) << err_.str();
  const auto all = nlohmann::json::parse(out_.str());
  EXPECT_EQ(all["sound"], true);
  ASSERT_EQ(all["devices"].size(), 2u);
  const auto& cpu = all["devices"][0];
  EXPECT_EQ(cpu["device"], "cpu");
  EXPECT_EQ(cpu["sound"], true);
  ASSERT_EQ(cpu["mutants"].size(), all_faults().size());
  EXPECT_EQ(cpu["mutants"][0]["by_fill"].size(), 6u);
  EXPECT_EQ(cpu["correct"]["by_fill"]["normal"]["verdict"], "passed");
  const auto& cuda = all["devices"][1];
  EXPECT_EQ(cuda["device"], "cuda");
  if (const std::string absence = cuda_absence(); absence.empty()) {
    const std::vector<Fault> faults = all_faults();
    const auto of_cpu_alone = std::ranges::count_if(faults, is_of_delta_net);
    EXPECT_EQ(std::ssize(cuda["mutants"]), std::ssize(faults) - of_cpu_alone);
  } else {
    EXPECT_EQ(cuda["absence"], absence);
  }
}

}  // namespace
}  // namespace attnbench
