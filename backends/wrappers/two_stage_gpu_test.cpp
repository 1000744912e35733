// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include "backends/paged_fa/paged_fa.h"
#include "backends/testing/conformance.h"
#include "backends/testing/graph_conformance.cuh"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_two_stage_paged_fa() {
  return with_two_stages(std::make_unique<paged_fa::PagedFaBackend>(), merge_states_on_gpu);
}

class TwoStageGpu : public GpuTest {
 protected:
  void expect_agreement(const Case& c) {
    Fixture fixture(c, *device_);
    const auto backend = make_two_stage_paged_fa();
    ASSERT_TRUE(backend->supports(problem_of(c))) << backend->supports(problem_of(c)).reason();
    conformance::expect_agreement(
        *backend, c, {Fill::kTag, Fill::kNeedle, Fill::kExtreme, Fill::kNormal}, *device_, fixture);
  }
};

/// Heads of 128, for which every build has kernels.
Case trees(std::int64_t further) {
  Case c = small_tree_verify();
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  c.kv_cache.layout = KvLayout::kNhd;
  for (Request& request : c.requests) request.kv_len += further;
  return c;
}

TEST_F(TwoStageGpu, conforms) { conformance::expect_all(make_two_stage_paged_fa, *device_); }

TEST_F(TwoStageGpu, repeats_other_trees_and_prefixes_from_a_graph) {
  conformance::expect_graph_replay(make_two_stage_paged_fa, *device_);
}

TEST_F(TwoStageGpu, repeats_trees_with_sinks_and_softcap_from_a_graph) {
  AttentionLayer layer = trees(0).layer;
  layer.has_sinks = true;
  layer.logit_cap = 5;
  conformance::expect_graph_replay(make_two_stage_paged_fa, *device_, layer,
                                   ForwardMode::kTargetVerify);
}

TEST_F(TwoStageGpu, leaves_real_rows_as_they_are_beside_padding) {
  conformance::expect_padding_changes_nothing(make_two_stage_paged_fa, *device_);
}

TEST_F(TwoStageGpu, agrees_with_the_reference_where_prefixes_are_split) {
  for (const std::int64_t further : {0, 2100}) expect_agreement(trees(further));
}

TEST_F(TwoStageGpu, finds_nodes_in_pages_of_any_size_and_type) {
  for (const std::int64_t page_size : {1, 3, 16, 64}) {
    for (const DType dtype : {DType::kBF16, DType::kE4M3}) {
      Case c = trees(100);
      c.kv_cache.page_size = page_size;
      c.kv_cache.dtype = dtype;
      if (size_bytes(dtype) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      expect_agreement(c);
    }
  }
}

TEST_F(TwoStageGpu, lets_sinks_join_once_and_softcap_both_passes) {
  Case c = trees(0);
  c.layer.has_sinks = true;
  c.layer.logit_cap = 5;
  c.requests[0].kv_len = c.requests[0].q_len;  // nothing is committed
  expect_agreement(c);
  for (Request& request : c.requests) request.kv_len = request.q_len;
  expect_agreement(c);
}

TEST_F(TwoStageGpu, rounds_outputs_in_fp8_once_and_reads_the_scales_of_heads) {
  for (const std::int64_t further : {0, 2100}) {
    Case c = trees(further);
    c.kv_cache.dtype = DType::kE4M3;
    c.kv_cache.scales = KvScales::kHead;
    c.fp8.out = DType::kE4M3;
    c.out_scale = 0.07f;
    expect_agreement(c);
  }
}

TEST_F(TwoStageGpu, is_given_by_the_mask_of_the_tree_as_well) {
  const Case c = trees(300);
  Fixture fixture(c, *device_);
  fixture.fill(Fill::kNormal);
  const auto stages = make_two_stage_paged_fa();
  paged_fa::PagedFaBackend masked;
  const conformance::Outputs a = conformance::forward(*stages, fixture, *device_);
  const conformance::Outputs b = conformance::forward(masked, fixture, *device_);
  ASSERT_EQ(a.lse.size(), b.lse.size());
  const auto bytes_of_lse = static_cast<std::int64_t>(a.lse.size());
  for (std::int64_t at = 0; at < bytes_of_lse; at += size_bytes(DType::kF32)) {
    EXPECT_NEAR(load(DType::kF32, a.lse.data() + at), load(DType::kF32, b.lse.data() + at), 1e-4);
  }
}

}  // namespace
}  // namespace attnbench
