// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gmock/gmock.h>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"
#include "backends/testing/named_kernel.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_virtual() {
  return with_virtual_batches(std::make_unique<cpu_flash::CpuFlashBackend>());
}

Problem chunked_problem(std::int64_t chunk) {
  Case c = small_prefix_hits();  // pages of 16
  c.layer.attention_chunk = chunk;
  return problem_of(c);
}

TEST(VirtualBatches, compute_chunked_layers_with_kernels_that_know_no_chunks) {
  conformance::expect_agreement(make_virtual);
  conformance::expect_agreement(
      [] { return with_virtual_batches(std::make_unique<torch_native::TorchNativeBackend>()); });
}

TEST(VirtualBatches, leave_the_name_of_the_kernel_that_a_plan_has_chosen) {
  const auto device = make_cpu_device();
  Case c = small_prefix_hits();
  c.layer.attention_chunk = 32;
  Fixture fixture(c, *device);
  PlanMemory memory(*device);
  const auto backend = with_virtual_batches(
      std::make_unique<NamedKernel>(std::make_unique<cpu_flash::CpuFlashBackend>(), "engine 5"));
  EXPECT_EQ(backend->plan(fixture.batch(), memory)->kernel(), "engine 5");
}

TEST(VirtualBatches, find_their_keys_behind_shared_prefixes) {
  const auto device = make_cpu_device();
  for (const std::int64_t chunk : {16, 32, 64}) {
    Case c = small_prefix_hits();
    c.layer.attention_chunk = chunk;
    Fixture fixture(c, *device);
    const auto backend = make_virtual();
    const Verification found = conformance::verify_all_rows(*backend, c, kFills, *device, fixture);
    EXPECT_EQ(found.verdict, Verdict::kPassed) << chunk << ": " << found.reason;
  }
}

TEST(VirtualBatches, cut_chains_of_drafts_where_a_chunk_ends) {
  const auto device = make_cpu_device();
  Case c = small_prefix_hits();
  c.mode = ForwardMode::kTargetVerify;
  c.layer.attention_chunk = 16;
  c.padding = {};
  c.requests.clear();
  for (const std::int64_t kv_len : {18, 33, 50}) {  // drafts on both sides of 16, of 32 and of 48
    Request& request = c.requests.emplace_back();
    request.kv_len = kv_len;
    request.q_len = 4;
    request.tree_parents = {-1, 0, 1, 2};
  }
  c.prefixes.clear();
  Fixture fixture(c, *device);
  const auto backend = make_virtual();
  const Verification found = conformance::verify_all_rows(*backend, c, kFills, *device, fixture);
  EXPECT_EQ(found.verdict, Verdict::kPassed) << found.reason;
  c.requests.back().tree_parents = {-1, 0, 0, 2};
  EXPECT_THAT(backend->supports(problem_of(c)).reason(), testing::HasSubstr("that branch"));
}

TEST(VirtualBatches, compute_padded_prompts_and_queries_that_see_no_key) {
  std::vector<std::string> ran;
  const auto device = make_cpu_device();
  const auto backend = make_virtual();
  for (const Case& c : small_edge_shapes()) {
    if (c.layer.attention_chunk == 0) continue;
    ASSERT_TRUE(backend->supports(problem_of(c))) << c.id;
    Fixture fixture(c, *device);
    const Verification found = conformance::verify_all_rows(*backend, c, kFills, *device, fixture);
    EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
    ran.push_back(c.id);
  }
  EXPECT_THAT(
      ran, testing::ElementsAre("more_queries_in_chunks", "prompts_in_chunks_padded_with_length_0",
                                "prompts_in_chunks_padded_with_length_1"));
}

TEST(VirtualBatches, take_part_by_name_alone) {
  const auto backend = make_virtual();
  EXPECT_EQ(backend->info().name, "cpu_flash:virtual_batches");
  EXPECT_FALSE(backend->info().by_default);
}

TEST(VirtualBatches, refuse_what_has_no_virtual_requests) {
  const auto backend = make_virtual();
  EXPECT_TRUE(backend->supports(chunked_problem(32)));
  EXPECT_THAT(backend->supports(chunked_problem(0)).reason(), testing::HasSubstr("chunked layers"));
  EXPECT_THAT(backend->supports(chunked_problem(24)).reason(),
              testing::HasSubstr("a chunk of 24 tokens is no whole number of pages of 16"));
  Problem problem = chunked_problem(32);
  problem.mode = ForwardMode::kTargetVerify;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("draft trees"));
  problem = chunked_problem(32);
  problem.layer.temperature_len = 8;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("temperature"));
  problem = chunked_problem(32);
  problem.layer.family = Family::kGatedDeltaNet;
  EXPECT_FALSE(backend->supports(problem)) << "and what the kernels refuse";
}

}  // namespace
}  // namespace attnbench
