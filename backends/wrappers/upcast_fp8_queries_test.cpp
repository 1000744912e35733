// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/upcast_fp8_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/conformance.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

/// What upcast_fp8_queries_on_gpu() does, element by element.
void widen_on_host(const UpcastFp8Queries& queries, Stream&) {
  const ConstTensorView& from = queries.from;
  for (std::int64_t token = 0; token < from.shape[0]; ++token) {
    for (int head = 0; head < from.shape[1]; ++head) {
      const float scale = queries.scale(token, head);
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

TEST(UpcastFp8Queries, agree_with_the_reference_in_kernels_that_know_no_fp8) {
  const auto device = make_cpu_device();
  std::vector<ForwardBatch> planned;
  int taken = 0;
  for (const Case& c : small_fp8_activations()) {
    if (!c.fp8.q || c.fp8.out) continue;
    const auto backend =
        with_upcast_fp8_queries(std::make_unique<TakesNoFp8>(&planned), widen_on_host);
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

/// Whose passes have memory of their own, and write into all of it.
class PassesPlan final : public Plan {
 public:
  PassesPlan(std::unique_ptr<Plan> dense, PlanMemory& memory)
      : dense_(std::move(dense)),
        areas_{memory.reserve(kBytes), memory.part(0).reserve(kBytes),
               memory.part(1).reserve(kBytes)} {}
  void run(Stream& stream) override {
    for (std::byte* const area : areas_) std::fill_n(area, kBytes, std::byte{0xff});
    dense_->run(stream);
  }
  [[nodiscard]] std::string kernel() const override { return "in passes"; }

 private:
  static constexpr std::size_t kBytes = 1 << 16;
  std::unique_ptr<Plan> dense_;
  std::array<std::byte*, 3> areas_;
};

class InPasses final : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return dense_.info(); }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<PassesPlan>(dense_.plan(batch, of_dense_), memory);
  }

 private:
  std::unique_ptr<Device> device_ = make_cpu_device();
  PlanMemory of_dense_{*device_};
  torch_native::TorchNativeBackend dense_;
};

TEST(UpcastFp8Queries, lie_apart_from_the_memory_of_kernels_that_work_in_passes) {
  const auto device = make_cpu_device();
  Case c = small_prefix_hits();
  c.fp8.q = DType::kE4M3;
  const auto backend = with_upcast_fp8_queries(std::make_unique<InPasses>(), widen_on_host);
  Fixture fixture(c, *device);
  conformance::expect_agreement(*backend, c, Fill::kNormal, *device, fixture);
}

TEST(UpcastFp8Queries, leave_the_name_of_the_kernel_that_a_plan_has_chosen) {
  const auto device = make_cpu_device();
  Case c = small_prefix_hits();
  c.fp8.q = DType::kE4M3;
  const auto backend = with_upcast_fp8_queries(std::make_unique<InPasses>(), widen_on_host);
  Fixture fixture(c, *device);
  PlanMemory memory(*device);
  EXPECT_EQ(backend->plan(fixture.batch(), memory)->kernel(), "in passes");
}

TEST(UpcastFp8Queries, leave_other_steps_as_they_are) {
  const auto device = make_cpu_device();
  std::vector<ForwardBatch> planned;
  const Case c = small_mla();
  const auto backend =
      with_upcast_fp8_queries(std::make_unique<TakesNoFp8>(&planned), widen_on_host);
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
