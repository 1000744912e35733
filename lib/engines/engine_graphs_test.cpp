// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_graphs.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

Problem step_of(ForwardMode mode, std::int64_t q_tokens) {
  Problem problem;
  problem.mode = mode;
  problem.limits = {.requests = 2, .q_len = 4, .q_tokens = q_tokens, .kv_len = 64};
  return problem;
}

TEST(EngineGraphs, of_sglang_record_drafts_and_diffusion_of_a_fixed_width) {
  using Level = CudaGraphSupport;
  for (const ForwardMode mode : {ForwardMode::kDraftExtend, ForwardMode::kDllmExtend}) {
    EXPECT_EQ(graph_needed_in(Engine::kSglang, step_of(mode, 8)), Level::kUniformBatch);
    EXPECT_EQ(graph_needed_in(Engine::kSglang, step_of(mode, 7)), Level::kAlways);
    EXPECT_EQ(graph_needed_in(Engine::kVllm, step_of(mode, 8)), Level::kAlways);
  }
  for (const Engine engine : kEngines) {
    EXPECT_EQ(graph_needed_in(engine, step_of(ForwardMode::kTargetVerify, 8)),
              Level::kUniformBatch);
    EXPECT_EQ(graph_needed_in(engine, step_of(ForwardMode::kExtend, 8)), Level::kAlways);
  }
}

}  // namespace
}  // namespace attnbench
