// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/wide_queries.h"

#include <gtest/gtest.h>

#include "backends/testing/conformance.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

/// What widen_queries_on_gpu() does, element by element.
void widen_on_host(const WideQueries& queries, Stream&) {
  const ConstTensorView& from = queries.from;
  const std::int64_t group = from.shape[1] / queries.heads_kv;
  for (std::int64_t token = 0; token < from.shape[0]; ++token) {
    for (std::int64_t head = 0; head < from.shape[1]; ++head) {
      const float scale =
          queries.scales == nullptr
              ? 1.0f
              : queries.scales[queries.requests.of(token) * queries.heads_kv + head / group];
      for (std::int64_t d = 0; d < from.shape[2]; ++d) {
        const float stored = load(from.dtype, from.row(token, head) + d * size_bytes(from.dtype));
        store(queries.to.dtype, queries.to.row(token, head) + d * size_bytes(queries.to.dtype),
              stored * scale);
      }
    }
  }
}

/// Takes no fp8, and notes the steps that it plans.
class TakesNoFp8 final : public Backend {
 public:
  explicit TakesNoFp8(std::vector<ForwardBatch>* planned) : planned_(planned) {
    info_.reads_fp8_queries = false;
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.fp8.q ? Support::no("queries in fp8") : Support::yes();
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return dense_.formats(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    planned_->push_back(batch);
    return dense_.plan(batch, memory);
  }

 private:
  torch_native::TorchNativeBackend dense_;
  BackendInfo info_ = dense_.info();
  std::vector<ForwardBatch>* planned_;
};

TEST(WideQueries, agree_with_the_reference_in_kernels_that_know_no_fp8) {
  const auto device = make_cpu_device();
  std::vector<ForwardBatch> planned;
  int taken = 0;
  for (const Case& c : small_fp8_activations()) {
    if (!c.fp8.q || c.fp8.out) continue;
    const auto backend = with_wide_queries(std::make_unique<TakesNoFp8>(&planned), widen_on_host);
    ASSERT_TRUE(conformance::supports(*backend, c, *device)) << c.id;
    Fixture fixture(c, *device);
    for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) {
      conformance::expect_agreement(*backend, c, fill, *device, fixture);
    }
    EXPECT_EQ(planned.back().tensors.q.dtype, c.dtype);
    EXPECT_EQ(planned.back().tensors.q_scale, 1);
    EXPECT_EQ(planned.back().tensors.q_scales, nullptr);
    EXPECT_FALSE(planned.back().problem == nullptr);
    ++taken;
  }
  EXPECT_GT(taken, 8);
}

TEST(WideQueries, leave_other_steps_as_they_are) {
  const auto device = make_cpu_device();
  std::vector<ForwardBatch> planned;
  const Case c = small_mla();
  const auto backend = with_wide_queries(std::make_unique<TakesNoFp8>(&planned), widen_on_host);
  Fixture fixture(c, *device);
  PlanMemory memory(*device);
  (void)backend->plan(fixture.batch(), memory);
  EXPECT_EQ(planned.back().tensors.q.data, fixture.batch().tensors.q.data);
  EXPECT_TRUE(backend->info().reads_fp8_queries);
}

TEST(TokenRequests, find_a_token_among_requests_of_any_lengths) {
  const std::int32_t starts[] = {0, 1, 1, 4, 9};
  const TokenRequests ragged{starts, 4};
  const std::vector<std::int64_t> want{0, 2, 2, 2, 3, 3, 3, 3, 3};
  for (std::size_t token = 0; token < want.size(); ++token) {
    EXPECT_EQ(ragged.of(static_cast<std::int64_t>(token)), want[token]) << token;
  }
  const TokenRequests uniform{nullptr, 3, 4};
  EXPECT_EQ(uniform.of(3), 0);
  EXPECT_EQ(uniform.of(4), 1);
  EXPECT_EQ(uniform.of(11), 2);
}

}  // namespace
}  // namespace attnbench
