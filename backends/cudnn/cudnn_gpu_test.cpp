// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/cudnn.h"

#include <gmock/gmock.h>

#include <cmath>

#include "backends/cudnn/execution_plan.h"
#include "backends/cudnn/shape.h"
#include "backends/testing/conformance.h"
#include "backends/testing/graph_engine.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::cudnn {
namespace {

class CudnnGpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string missing = cuda_absence();
    if (missing.empty()) missing = cudnn::absence();
    if (!missing.empty()) GTEST_SKIP() << missing;
    device_ = make_cuda_device();
    backend_ = std::make_unique<CudnnBackend>();
  }

  void expect_agreement(const Case& c,
                        std::initializer_list<Fill> fills = {Fill::kNeedle, Fill::kNormal}) {
    const Support support = backend_->supports(problem_of(c));
    ASSERT_TRUE(support) << c.id << ": " << support.reason();
    Fixture fixture(c, *device_);
    conformance::expect_agreement(*backend_, c, fills, *device_, fixture);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Backend> backend_;  ///< one for all cases: it starts cuDNN once
};

std::unique_ptr<Backend> make() { return std::make_unique<CudnnBackend>(); }

/// Requests of `q_len` new tokens at the end of some keys, or, where `whole`, of all their keys,
/// which the reference of longer prompts would take seconds for.
Case step(int dk, int dv, std::int64_t q_len, bool whole = false) {
  Case c = small_prefix_hits();
  c.id = "step/" + std::to_string(dk) + "q" + std::to_string(q_len) + (whole ? "/whole" : "");
  c.mode = q_len == 1 ? ForwardMode::kDecode : ForwardMode::kExtend;
  c.layer.head_dim_qk = dk;
  c.layer.head_dim_v = dv;
  c.layer.scale = 1 / std::sqrt(static_cast<double>(dk));
  c.prefixes.clear();
  c.requests.clear();
  for (const std::int64_t len : {1, 16, 17, 63, 65, 127, 128, 129, 257, 513, 1000, 2049}) {
    if (whole && len > 600) break;
    Request request;
    request.group = "some";
    request.kv_len = len;
    request.q_len = whole ? len : std::min(len, q_len);
    c.requests.push_back(request);
  }
  return c;
}

TEST_F(CudnnGpu, agrees_with_the_reference_for_chains_of_drafts) {
  Case c = step(128, 128, 4);
  c.id = "chains";
  c.mode = ForwardMode::kTargetVerify;
  std::erase_if(c.requests, [](const Request& request) { return request.q_len < 4; });
  for (Request& request : c.requests) request.tree_parents = {-1, 0, 1, 2};
  expect_agreement(c);
}

TEST_F(CudnnGpu, conforms) { conformance::expect_all(make, *device_); }

TEST_F(CudnnGpu, agrees_with_the_reference_for_every_kind_of_step) {
  const int dims[][2] = {{64, 64}, {96, 96}, {128, 128}, {192, 128}, {256, 256}};
  for (const auto& [dk, dv] : dims) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (Case c : {step(dk, dv, 1), step(dk, dv, 13), step(dk, dv, 150),
                     step(dk, dv, 150, /*whole=*/true)}) {
        c.dtype = c.kv_cache.dtype = dtype;
        c.id += "/" + std::string(to_string(dtype));
        expect_agreement(c);
      }
    }
  }
}

TEST_F(CudnnGpu, agrees_with_the_reference_under_every_mask) {
  for (const std::int64_t q_len : {1, 13, 150}) {
    const Case plain = step(128, 128, q_len);
    Case window = plain, encoder = plain, both = plain, sinks = plain;
    window.layer.sliding_window_size = both.layer.sliding_window_size = 100;
    encoder.layer.causal = both.layer.causal = false;
    sinks.layer.has_sinks = q_len > 1;
    for (const Case& c : {window, encoder, both, sinks}) {
      expect_agreement(c, {Fill::kTag, Fill::kNeedle, Fill::kNormal, Fill::kExtreme});
    }
  }
}

TEST_F(CudnnGpu, takes_pages_of_powers_of_two_in_either_order) {
  for (const std::int64_t page_size : {1, 2, 4, 16, 64, 256}) {
    for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd}) {
      for (Case c : {step(128, 128, 1), step(128, 128, 70)}) {
        c.kv_cache.page_size = page_size;
        c.kv_cache.layout = layout;
        expect_agreement(c, {Fill::kTag});
      }
    }
  }
}

/// Where two of cuDNN's kernels compute the same rows, or one of them twice: bits may differ. `got`
/// may have rows of padding behind them.
void expect_near(const conformance::Outputs& got, const conformance::Outputs& want) {
  ASSERT_GE(got.out.size(), want.out.size());
  for (std::size_t at = 0; at < want.out.size(); at += 2) {
    const float value = load(DType::kBF16, &want.out[at]);
    ASSERT_NEAR(load(DType::kBF16, &got.out[at]), value, 0.01f + 0.02f * std::abs(value)) << at;
  }
  for (std::size_t at = 0; at < want.lse.size(); at += sizeof(float)) {
    ASSERT_NEAR(load(DType::kF32, &got.lse[at]), load(DType::kF32, &want.lse[at]), 0.001f) << at;
  }
}

TEST_F(CudnnGpu, repeats_other_steps_from_one_graph) {
  const AttentionLayer layer = step(128, 128, 1).layer;
  const auto of = [&](const std::vector<std::int64_t>& lens, std::uint64_t salt = 0) {
    return std::make_unique<conformance::GraphStep>(
        conformance::graph_case(layer, ForwardMode::kDecode, lens), 8,
        backend_->info().padding_seq_len, *device_, salt);
  };
  const std::vector<std::int64_t> lens{1, 15, 16, 17, 300, 64, 65, 2};
  const auto first = of(lens), elsewhere = of(lens, 99);
  const auto longer = of({900, 1, 2600, 33, 257, 1025, 16, 3000});
  const auto shorter = of({1, 2, 3, 1, 16, 5, 1, 9}), five = of({700, 1, 3500, 40, 16});
  conformance::GraphEngine engine(*backend_, *device_, *first, 8);
  const auto graph = engine.capture(*first);
  for (const auto* each : {&first, &longer, &shorter, &elsewhere, &five, &shorter}) {
    const conformance::Outputs got = engine.replay(*graph, **each);
    const auto want = conformance::forward(*backend_, (*each)->fixture(), *device_);
    expect_near(got, want);
    const auto fresh_backend = make();
    conformance::GraphEngine fresh(*fresh_backend, *device_, *first, 8);
    conformance::Outputs alone = fresh.replay(*fresh.capture(**each), **each);
    alone.out.resize(want.out.size());  // rows of padding are never read
    alone.lse.resize(want.lse.size());
    expect_near(got, alone);  // nothing is left over
  }
}

TEST_F(CudnnGpu, finds_the_plan_of_a_shape_again) {
  Fixture fixture(step(128, 128, 1), *device_), other(step(64, 64, 1), *device_);
  PlanCache plans;
  const auto first = plans.plan_of(shape_of(fixture.batch()));
  EXPECT_NE(first, plans.plan_of(shape_of(other.batch())));
  EXPECT_EQ(first, plans.plan_of(shape_of(fixture.batch())));
}

TEST_F(CudnnGpu, names_the_library_that_it_loaded) {
  EXPECT_THAT(backend_->info().packages, testing::StartsWith("nvidia-cudnn-cu"));
}

}  // namespace
}  // namespace attnbench::cudnn
