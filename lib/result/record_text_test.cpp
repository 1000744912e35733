// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

Record named(const char* backend, Outcome outcome) {
  Record r = sample_run().records[0];
  r.backend = backend;
  r.outcome = std::move(outcome);
  return r;
}

Record ran(const char* backend) {
  return named(backend, Completed{Check::kPassed, Speed::kClaimed});
}

TEST(NotRun, names_backends_by_their_reason_each_once) {
  const Unsupported graph{"no CUDA graph on a CPU"};
  const std::vector<Record> records = {named("torch_native", graph), named("torch_native", graph),
                                       ran("splitkv"), named("mla", Unsupported{"no latent cache"}),
                                       named("cpu_flash", graph)};
  EXPECT_EQ(not_run_text(records),
            "torch_native, cpu_flash (no CUDA graph on a CPU) · mla (no latent cache)");
}

TEST(NotRun, is_nothing_that_was_tried) {
  EXPECT_FALSE(was_not_run(named("wrong", Incorrect{"wrong"})));
  EXPECT_FALSE(was_not_run(named("crashed", Crashed{"it"})));
  EXPECT_FALSE(was_not_run(named("waits", Completed{Check::kPassed, Speed::kNone, "waits"})));
  EXPECT_TRUE(was_not_run(named("late", Skipped{"interrupted"})));
  EXPECT_EQ(not_run_text(std::vector<Record>{ran("splitkv")}), "");
}

TEST(NotRun, tells_the_cells_apart_of_a_backend_that_ran_in_part) {
  Record graph = named("cascade", Unsupported{"prompts have no graph"});
  graph.launch = LaunchMode::kGraph;
  Record warm = named("cascade", Skipped{"interrupted"});
  warm.cache = CacheState::kWarm;
  EXPECT_EQ(not_run_text(std::vector<Record>{ran("cascade"), graph, warm}),
            "cascade/g (prompts have no graph) · cascade warm (interrupted)");
}

TEST(NotRun, names_both_of_an_a_a_pair_as_one) {
  const Unsupported reason{"no latent cache"};
  EXPECT_EQ(not_run_text(std::vector<Record>{named("mla", reason), named("mla#2", reason)}),
            "mla (no latent cache)");
}

}  // namespace
}  // namespace attnbench
