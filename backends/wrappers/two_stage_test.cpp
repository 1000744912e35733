// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <span>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"
#include "backends/testing/named_kernel.h"
#include "lib/batch/graph_padding.h"
#include "lib/index/host_indices.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_two_stage() {
  return with_two_stages(std::make_unique<cpu_flash::CpuFlashBackend>(), merge_states_on_cpu);
}

/// A backend for a GPU, of which nothing is asked but what it is.
class GpuStub final : public Backend {
 public:
  GpuStub() {
    info_.device = DeviceKind::kCuda;
    info_.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return nullptr;
  }

 private:
  BackendInfo info_;
};

/// The kernels of cpu_flash with plans that go on to further steps, as those on a GPU do.
class GoesOn final : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return kernels_.info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return kernels_.supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<Planned>(kernels_, batch, memory);
  }

 private:
  /// What it reads of a step is its own: after update() the step may go, but for the tensors.
  class Planned final : public Plan {
   public:
    Planned(Backend& kernels, const ForwardBatch& batch, PlanMemory& memory)
        : kernels_(kernels), memory_(memory), table_(0, 0), tensors_(batch.tensors) {
      keep(batch);
    }
    void run(Stream& stream) override { plan_->run(stream); }
    [[nodiscard]] bool update(const ForwardBatch& batch, Stream&) override {
      keep(batch);
      return true;
    }

   private:
    void keep(const ForwardBatch& batch) {
      step_ = batch;
      problem_ = *batch.problem;
      table_ = *batch.req_to_token_pool;
      pool_ = *batch.token_to_kv_pool;
      step_.problem = &problem_;
      step_.req_to_token_pool = &table_;
      step_.token_to_kv_pool = &pool_;
      step_.tensors = tensors_;
      plan_ = kernels_.plan(step_, memory_);
    }

    Backend& kernels_;
    PlanMemory& memory_;
    Problem problem_;
    ReqToTokenPool table_;
    KvPool pool_;
    AttentionTensors tensors_;
    ForwardBatch step_;
    std::unique_ptr<Plan> plan_;
  };

  cpu_flash::CpuFlashBackend kernels_;
};

TEST(TwoStage, goes_on_from_padding_alone_to_any_step_of_its_size) {
  const auto device = make_cpu_device();
  Case c = small_tree_verify();
  c.layer.has_sinks = true;
  c.requests[0].kv_len = c.requests[0].q_len;  // nothing is committed
  c.padding = {.requests = 2, .seq_len = 0};
  Fixture fixture(c, *device);
  fixture.fill(Fill::kNormal);
  const auto eager = make_two_stage();
  const conformance::Outputs expected = conformance::forward(*eager, fixture, *device);

  Problem problem = problem_of(c);
  problem.recorded = true;
  ForwardBatch step = fixture.batch();
  step.problem = &problem;
  ForwardBatch nothing = step_to_record(step, step.batch_size, 0);
  const HostIndices indices(nothing, c.kv_cache.page_size);
  nothing.device_batch = &indices.batch();

  const auto backend = with_two_stages(std::make_unique<GoesOn>(), merge_states_on_cpu);
  PlanMemory memory(*device);
  const auto stream = device->make_stream();
  const std::unique_ptr<Plan> plan = backend->plan(nothing, memory);
  const std::span<const std::byte> workspace = memory.memory();
  const auto outputs_after = [&](const ForwardBatch& next) {
    fixture.poison_outputs();
    EXPECT_TRUE(plan->update(next, *stream));
    plan->run(*stream);
    EXPECT_EQ(memory.memory().data(), workspace.data());
    const TensorView& lse = next.tensors.lse;
    const std::int64_t real = c.q_tokens(), all = lse.shape[0];
    EXPECT_EQ(all, real + 2 * 6);
    for (std::int64_t token = real; token < all; ++token) {
      EXPECT_TRUE(std::isnan(load(DType::kF32, lse.row(token, 0)))) << "padding was written";
    }
    return conformance::outputs_of(fixture);
  };
  EXPECT_EQ(outputs_after(step), expected);
  const conformance::Outputs untouched = outputs_after(nothing);
  fixture.poison_outputs();
  EXPECT_EQ(untouched, conformance::outputs_of(fixture));
  EXPECT_EQ(outputs_after(step), expected);
}

TEST(TwoStage, can_be_recorded_where_its_kernels_can) {
  const auto on_gpu = with_two_stages(std::make_unique<GpuStub>(), merge_states_on_cpu);
  EXPECT_EQ(on_gpu->info().cuda_graph, CudaGraphSupport::kUniformBatch);
  EXPECT_EQ(make_two_stage()->info().cuda_graph, CudaGraphSupport::kNever);
}

TEST(TwoStage, leaves_the_name_of_the_kernel_that_the_plans_of_its_passes_have_chosen) {
  const auto device = make_cpu_device();
  Fixture fixture(small_tree_verify(), *device);
  PlanMemory memory(*device);
  const auto backend = with_two_stages(
      std::make_unique<NamedKernel>(std::make_unique<cpu_flash::CpuFlashBackend>(), "engine 5"),
      merge_states_on_cpu);
  EXPECT_EQ(backend->plan(fixture.batch(), memory)->kernel(), "engine 5");
}

TEST(TwoStage, conforms) { conformance::expect_all(make_two_stage); }

TEST(TwoStage, lets_sinks_join_once_and_softcap_both_passes) {
  const auto device = make_cpu_device();
  Case c = small_tree_verify();
  c.layer.has_sinks = true;
  c.layer.logit_cap = 5;
  c.requests[0].kv_len = 6;  // nothing is committed: the pass over the prefix has no key of it
  Fixture fixture(c, *device);
  const auto backend = make_two_stage();
  for (const Fill fill : kFills) {
    conformance::expect_agreement(*backend, c, fill, *device, fixture);
  }
}

TEST(TwoStage, rounds_outputs_in_fp8_once_and_finds_the_scales_of_nodes) {
  const auto device = make_cpu_device();
  for (const QScales scales : {QScales::kHead, QScales::kToken}) {
    Case c = small_tree_verify();
    c.fp8 = {DType::kE4M3, scales, DType::kE4M3};
    c.out_scale = 0.07f;
    c.requests[0].kv_len = 6;  // nothing is committed
    Fixture fixture(c, *device);
    const auto backend = make_two_stage();
    ASSERT_TRUE(backend->supports(problem_of(c)));
    EXPECT_TRUE(backend->info().writes_fp8_outputs);
    for (const Fill fill : kFills) {
      conformance::expect_agreement(*backend, c, fill, *device, fixture);
    }
  }
}

TEST(TwoStage, needs_no_prefix_at_all) {
  const auto device = make_cpu_device();
  Case c = small_tree_verify();
  c.layer.has_sinks = true;
  for (Request& request : c.requests) request.kv_len = request.q_len;
  Fixture fixture(c, *device);
  const auto backend = make_two_stage();
  conformance::expect_agreement(*backend, c, Fill::kNormal, *device, fixture);
}

TEST(TwoStage, leaves_real_rows_as_they_are_beside_padding) {
  conformance::expect_padding_changes_nothing(make_two_stage);
}

TEST(TwoStage, takes_trees_whose_masks_no_place_decides) {
  const auto backend = make_two_stage();
  EXPECT_TRUE(backend->supports(problem_of(small_tree_verify())));
  Case window = small_tree_verify();
  window.layer.sliding_window_size = 4;
  EXPECT_THAT(backend->supports(problem_of(window)).reason(), testing::HasSubstr("window"));
  Case both_ways = small_tree_verify();
  both_ways.layer.causal = false;
  EXPECT_THAT(backend->supports(problem_of(both_ways)).reason(), testing::HasSubstr("causal"));
  EXPECT_THAT(backend->supports(problem_of(small_plain_decode())).reason(),
              testing::HasSubstr("draft trees only"));
  Case by_request = small_tree_verify();
  by_request.kv_cache.scales = KvScales::kRequest;
  EXPECT_THAT(backend->supports(problem_of(by_request)).reason(),
              testing::HasSubstr("no scales per request"));
}

TEST(TwoStage, finds_nodes_on_a_gpu_where_slots_lie_evenly_spaced) {
  const auto backend = with_two_stages(std::make_unique<GpuStub>(), merge_states_on_cpu);
  Problem problem = problem_of(small_tree_verify());
  problem.cache.page_size = 16;
  problem.cache.layout = KvLayout::kNhd;
  EXPECT_TRUE(backend->supports(problem));
  problem.cache.layout = KvLayout::kHnd;
  EXPECT_THAT(backend->supports(problem).reason(), testing::HasSubstr("no HND cache"));
  problem.cache.page_size = 1;
  EXPECT_TRUE(backend->supports(problem));
  EXPECT_EQ(backend->numerics(problem).partial_out, problem.dtype) << "as the kernels write it";
}

}  // namespace
}  // namespace attnbench
