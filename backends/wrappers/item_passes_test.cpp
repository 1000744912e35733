// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gmock/gmock.h>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"
#include "lib/backend/wrapped_backend.h"

namespace attnbench {
namespace {

/// The kernels of cpu_flash, which take no items here although they could.
class KnowsNoItems final : public WrappedBackend {
 public:
  KnowsNoItems() : WrappedBackend(std::make_unique<cpu_flash::CpuFlashBackend>()) {}
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.multi_item ? Support::no("no items") : WrappedBackend::supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    EXPECT_FALSE(batch.problem->multi_item);
    return WrappedBackend::plan(batch, memory);
  }
};

std::unique_ptr<Backend> make_item_passes(ItemKeys keys = ItemKeys::kBySlot) {
  return with_item_passes(std::make_unique<KnowsNoItems>(), keys, merge_states_on_cpu);
}

void expect_agreement(const Case& c) {
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  const auto backend = make_item_passes();
  ASSERT_TRUE(backend->supports(problem_of(c))) << backend->supports(problem_of(c)).reason();
  for (const Fill fill : kFills) {
    conformance::expect_agreement(*backend, c, fill, *device, fixture);
  }
}

TEST(ItemPasses, agree_with_the_reference) { expect_agreement(small_items()); }

TEST(ItemPasses, of_latent_rows_agree_with_the_reference) {
  expect_agreement(small_latent_items());
}

TEST(ItemPasses, let_sinks_join_once_also_for_delimiters) {
  Case c = small_items();
  c.layer.has_sinks = true;
  c.layer.logit_cap = 5;
  expect_agreement(c);
}

TEST(ItemPasses, round_outputs_in_fp8_once_and_find_the_scales_of_tokens) {
  Case c = small_items();
  c.fp8 = {DType::kE4M3, QScales::kToken, DType::kE5M2};
  c.out_scale = 0.3f;
  expect_agreement(c);
}

TEST(ItemPasses, find_keys_in_every_format) {
  for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined}) {
    Case c = small_items();
    c.kv_cache.layout = layout;
    expect_agreement(c);
    c.kv_cache.dtype = DType::kE4M3;
    c.kv_cache.k_scale = 0.37f;
    c.kv_cache.v_scale = 0.11f;
    expect_agreement(c);
  }
}

TEST(ItemPasses, score_items_behind_nothing) {
  Case c = small_items();
  c.requests.resize(1);
  c.requests[0].q_len = c.requests[0].kv_len = 6;  // delimiters at 0, 3 and 5
  c.requests[0].items = {2, 1};
  expect_agreement(c);
}

TEST(ItemPasses, have_no_part_for_requests_that_fill_the_batch_up) {
  for (const std::int32_t seq_len : {0, 1}) {
    Case c = small_items();
    c.padding = {.requests = 3, .seq_len = seq_len};
    expect_agreement(c);
  }
}

TEST(ItemPasses, refuse_what_two_passes_cannot_see) {
  const auto backend = make_item_passes();
  Problem problem = problem_of(small_items());
  problem.layer.has_alibi = true;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("ALiBi"));
  problem = problem_of(small_items());
  problem.layer.temperature_len = 8;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("temperature"));
  problem = problem_of(small_items());
  problem.cache.scales = KvScales::kRequest;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("no scales per request"));
}

TEST(ItemPasses, RefuseLayoutsWithoutPagesOfOneTokenWhereKernelsReadPages) {
  Problem problem = problem_of(small_items());
  problem.cache.layout = KvLayout::kHnd;
  EXPECT_TRUE(make_item_passes(ItemKeys::kBySlot)->supports(problem));
  EXPECT_THAT(make_item_passes(ItemKeys::kInPages)->supports(problem).reason(),
              testing::HasSubstr("no HND cache in pages of"));
}

TEST(ItemPasses, LeaveOtherStepsToTheKernels) {
  const auto device = make_cpu_device();
  const Case c = small_prefix_hits();  // the fixture refers to it
  Fixture fixture(c, *device);
  conformance::expect_agreement(*make_item_passes(), c, Fill::kNormal, *device, fixture);
}

}  // namespace
}  // namespace attnbench
