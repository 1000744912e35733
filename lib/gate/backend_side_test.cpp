// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/backend_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lib/base/error.h"
#include "lib/gate/compare.h"
#include "lib/gate/testing/measured_run.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

RunResult run_of(const std::vector<std::string>& backends) {
  RunResult run = measured_run({});
  for (const std::string& each : backends) {
    run.records.push_back(measured_cell("decode", each, 100));
  }
  return run;
}

std::vector<std::string> names_of(const BackendSide& side, const RunResult& run) {
  std::vector<std::string> names;
  for (const Record& record : records_of(side, run).records) names.push_back(record.backend);
  return names;
}

TEST(BackendSide, is_a_backend_and_its_twin_or_all_that_a_star_stands_for) {
  const RunResult run = run_of({"v22/a:x", "v22/a:x#2", "v22/b", "v33/a:x", "cpu"});
  EXPECT_THAT(names_of({"v22/*", "v33/*"}, run),
              ElementsAreArray({"v33/a:x", "v33/a:x#2", "v33/b"}));
  EXPECT_THAT(names_of({"v22/a:x", "cpu"}, run), ElementsAreArray({"cpu", "cpu#2"}));
  EXPECT_THAT(names_of({"v22/a:x#2", "cpu"}, run), ElementsAreArray({"cpu"}));
}

TEST(BackendSide, refuses_names_that_pair_nothing) {
  const RunResult run = run_of({"v22/a", "v33/a"});
  const auto refusal = [&](const BackendSide& side) -> std::string {
    try {
      static_cast<void>(records_of(side, run));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it is accepted";
  };
  EXPECT_THAT(refusal({"v22/*", "v33/a"}), HasSubstr("both have a star"));
  EXPECT_THAT(refusal({"v22/a", "v33/*"}), HasSubstr("both have a star"));
  EXPECT_THAT(refusal({"*/*", "*/*"}), HasSubstr("both have a star"));
  EXPECT_THAT(refusal({"v23/*", "v33/*"}), HasSubstr("the result has no backend 'v23/*'"));
}

TEST(BackendSide, is_compared_pair_by_pair_and_versions_are_told) {
  RunResult run = run_of({"v22/a", "v22/b", "v33/a", "v33/c"});
  for (Record& record : run.records) {
    const bool is_new = record.backend.starts_with("v33");
    record.environment.name = record.backend.substr(0, 3);
    record.packages = is_new ? "vllm==0.33.0" : "vllm==0.22.0";
    record.kernel = is_new ? "fwd of 3" : "fwd of 2";
  }
  const GateReport report = compare_backends(run, "v22/*", "v33/*", {});
  std::vector<std::pair<std::string, GateVerdict>> verdicts;
  for (const Comparison& each : report.cells) {
    verdicts.emplace_back(each.cell.backend, each.judgement.verdict);
  }
  EXPECT_THAT(verdicts, testing::UnorderedElementsAre(testing::Pair("v33/a", GateVerdict::kSame),
                                                      testing::Pair("v33/b", GateVerdict::kMissing),
                                                      testing::Pair("v33/c", GateVerdict::kNew)));
  EXPECT_THAT(report.remarks, testing::IsSupersetOf(
                                  {"packages: v22: vllm==0.22.0 in the base, v33: vllm==0.33.0 now",
                                   "v33/a, another kernel: fwd of 2 in the base, fwd of 3 now"}));
}

}  // namespace
}  // namespace attnbench
