// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/scenario/testing/small_cases.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

TEST(Conclude, mistrusts_a_kv_write_of_which_no_slot_was_checked) {
  Case c = small_plain_decode();
  c.step = StepPart::kKvWrite;
  const std::vector<FillTruth> truth = {{Fill::kNormal, {}}};
  Observation observed;
  EXPECT_EQ(conclude(c, observed, truth).verdict, Verdict::kMistrusted);
  EXPECT_EQ(conclude(c, observed, truth).reason, "nothing was written");
  observed.slots_checked = 3;
  EXPECT_EQ(conclude(c, observed, truth).verdict, Verdict::kPassed);
}

/// The reason where the first output of the first row is off by `error`, on the second of two
/// fills.
std::string reason_of(float error) {
  const Case c = small_plain_decode();
  VerifyConfig config;
  config.fills = {Fill::kTag, Fill::kNormal};
  const std::vector<FillTruth> truth = compute_truth(c, config);
  Observation observed;
  for (const FillTruth& each : truth) {
    FillOutputs outputs;
    for (const ReferenceRow& row : each.rows) {
      std::vector<float> values(row.out.begin(), row.out.end());
      if (outputs.rows.empty() && each.fill == Fill::kNormal) values[0] += error;
      values.push_back(static_cast<float>(row.lse));
      const auto bytes = std::as_bytes(std::span(values));
      outputs.rows.insert(outputs.rows.end(), bytes.begin(), bytes.end());
      outputs.pages.push_back(-1);
    }
    observed.fills.push_back(std::move(outputs));
  }
  return conclude(c, observed, truth).reason;
}

TEST(Conclude, says_where_a_backend_rounds_only_where_rounding_could_be_the_reason) {
  const std::string declared = "as numerics() declares";
  EXPECT_EQ(reason_of(0), "");
  EXPECT_NE(reason_of(1e-4f).find(declared), std::string::npos) << reason_of(1e-4f);
  EXPECT_NE(reason_of(1).find("on fill normal"), std::string::npos) << reason_of(1);
  EXPECT_EQ(reason_of(1).find(declared), std::string::npos) << reason_of(1);
}

}  // namespace
}  // namespace attnbench
