// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// How much workspace plans reserve, and what becomes of one that wants too much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "lib/run/testing/driver_fixture.h"

namespace attnbench {
namespace {

/// Answers right, in a workspace of so many bytes, of which a part of the plan has some.
class Roomy final : public Puppet {
 public:
  Roomy(const Case& c, std::size_t own, std::size_t for_part)
      : Puppet("roomy", Habit::kRight, c), own_(own), of_part_(for_part) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (own_ > 0) static_cast<void>(memory.reserve(own_));
    if (of_part_ > 0) static_cast<void>(memory.part(1).reserve(of_part_));
    static_cast<void>(memory.reserve_indices("csr", 4096));
    return Puppet::plan(batch, memory);
  }

 private:
  std::size_t own_, of_part_;
};

class Workspace : public Driver {
 protected:
  Record record_with(std::size_t own, std::size_t for_part) {
    registry_.add(
        [=, this] { return std::make_unique<Roomy>(scenario_.cases.front(), own, for_part); });
    return run().records.at(0);
  }
};

TEST_F(Workspace, is_what_the_plan_and_its_parts_reserved_without_index_arrays) {
  const Record r = record_with(std::size_t{1} << 20, 512);
  EXPECT_TRUE(r.claims_speed()) << r.reason();
  EXPECT_EQ(r.workspace_bytes, (1 << 20) + 512);
}

TEST_F(Workspace, is_not_known_of_a_plan_that_reserves_none) {
  EXPECT_EQ(record_with(0, 0).workspace_bytes, 0);
}

TEST_F(Workspace, beyond_the_scenario_s_limit_ends_the_cell_with_both_figures) {
  scenario_.measure.workspace_limit = 1 << 20;
  const Record r = record_with(3 << 19, 0);
  EXPECT_EQ(r.verdict(), Verdict::kSkipped);
  EXPECT_EQ(r.reason(),
            "wants 1.5 MiB of workspace, the scenario allows 1 MiB (1572864 and 1048576 B)");
  EXPECT_EQ(r.workspace_bytes, 3 << 19);
  EXPECT_EQ(r.harness_error(), HarnessError::kNone);
}

TEST_F(Workspace, of_just_the_limit_is_allowed) {
  scenario_.measure.workspace_limit = 1 << 20;
  EXPECT_TRUE(record_with(1 << 20, 0).claims_speed());
}

}  // namespace
}  // namespace attnbench
