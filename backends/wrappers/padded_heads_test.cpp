// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gtest/gtest.h>

#include <memory>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_padded() {
  return with_padded_heads(std::make_unique<cpu_flash::CpuFlashBackend>(), copy_rows_on_cpu);
}

TEST(PaddedHeads, agree_with_the_reference_in_latent_attention_of_fewer_heads) {
  const auto device = make_cpu_device();
  const auto backend = make_padded();
  int taken = 0;
  for (const Case& c : conformance::cases()) {
    if (!c.layer.shares_row_of_k_and_v() || !conformance::supports(*backend, c, *device)) continue;
    Fixture fixture(c, *device);
    conformance::expect_agreement(*backend, c, Fill::kNormal, *device, fixture);
    ++taken;
  }
  EXPECT_GT(taken, 3);
}

/// Tells which sinks the kernels are given.
class SinksOf final : public WrappedBackend {
 public:
  explicit SinksOf(const float** sinks)
      : WrappedBackend(std::make_unique<cpu_flash::CpuFlashBackend>()), sinks_(sinks) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    *sinks_ = batch.tensors.sinks;
    return kernels().plan(batch, memory);
  }

 private:
  const float** sinks_;
};

TEST(PaddedHeads, have_room_for_the_sinks_of_heads_that_are_added) {
  const auto device = make_cpu_device();
  Case c = small_mla();
  c.layer.has_sinks = true;
  Fixture fixture(c, *device);
  PlanMemory memory(*device);
  const float* given = nullptr;
  (void)with_padded_heads(std::make_unique<SinksOf>(&given), copy_rows_on_cpu)
      ->plan(fixture.batch(), memory);
  ASSERT_NE(given, nullptr);
  EXPECT_NE(given, fixture.batch().tensors.sinks) << "the layer's own end behind its heads";
}

TEST(PaddedHeads, compute_as_many_heads_as_kernels_for_whole_models_take) {
  const auto device = make_cpu_device();
  Fixture fixture(small_mla(), *device);
  PlanMemory memory(*device);
  (void)make_padded()->plan(fixture.batch(), memory);
  const ForwardBatch& batch = fixture.batch();
  const std::int64_t row = (576 + 512) * size_bytes(batch.tensors.q.dtype) + 4;
  EXPECT_GE(memory.workspace_bytes(), batch.q_tokens() * kPaddedHeads * row);
}

TEST(PaddedHeads, are_for_latent_attention_of_fewer_heads_alone) {
  Problem problem = problem_of(small_mla());
  problem.layer.heads_q = kPaddedHeads;
  EXPECT_EQ(make_padded()->supports(problem).reason(), "128 query heads need no padding to 128");
  EXPECT_EQ(make_padded()->supports(problem_of(small_plain_decode())).reason(),
            "latent attention alone has its query heads padded");
  EXPECT_FALSE(make_padded()->info().by_default);
  EXPECT_EQ(make_padded()->info().name, "cpu_flash:padded_heads");
}

}  // namespace
}  // namespace attnbench
