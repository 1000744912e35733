// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/cascade.h"

#include "backends/testing/conformance.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::cascade {
namespace {

class CascadeGpu : public GpuTest {
 protected:
  void expect_agreement(const Case& c) {
    CascadeBackend backend;
    ASSERT_TRUE(backend.supports(problem_of(c))) << backend.supports(problem_of(c)).reason();
    Fixture fixture(c, *device_);
    conformance::expect_agreement(
        backend, c, {Fill::kTag, Fill::kNeedle, Fill::kExtreme, Fill::kNormal}, *device_, fixture);
  }
};

/// Twenty requests behind one prefix of 1000 tokens: prefix tiles hold rows of many requests.
Case behind_one_prefix(std::int64_t q_len) {
  Case c = small_prefix_hits();
  c.id = "behind_one_prefix/q" + std::to_string(q_len);
  c.mode = q_len == 1 ? ForwardMode::kDecode : ForwardMode::kExtend;
  c.prefixes = {{"system", 1000}};
  c.requests.clear();
  for (int i = 0; i < 20; ++i) {
    Request request;
    request.group = "chat";
    request.q_len = q_len;
    request.kv_len = 1000 + q_len + 37 * i;
    request.shared_prefix = 0;
    request.shared_len = 1000;
    c.requests.push_back(request);
  }
  return c;
}

/// The same requests behind three levels of prefixes, some on the last one, some before.
Case behind_three_levels(std::int64_t q_len) {
  Case c = behind_one_prefix(q_len);
  c.id = "behind_three_levels/q" + std::to_string(q_len);
  c.prefixes = {{"system", 1000},   {"tools", 1500, 0}, {"plain", 1300, 0},
                {"agent", 2100, 1}, {"coder", 1900, 1}, {"chat", 1400, 2}};
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    Request& request = c.requests[r];
    request.shared_prefix = r < 5 ? 3 : r < 9 ? 4 : r < 11 ? 1 : r < 17 ? 5 : 0;
    request.shared_len = c.prefixes[static_cast<std::size_t>(request.shared_prefix)].length;
    request.kv_len = request.shared_len + q_len + 37 * static_cast<std::int64_t>(r);
  }
  return c;
}

TEST_F(CascadeGpu, gives_the_same_bits_beside_rows_of_no_request) {
  conformance::expect_token_rows_change_nothing([] { return std::make_unique<CascadeBackend>(); },
                                                *device_);
}

TEST_F(CascadeGpu, conforms) {
  conformance::expect_all([] { return std::make_unique<CascadeBackend>(); }, *device_);
}

TEST_F(CascadeGpu, reads_pages_beyond_2_32_elements) {
  conformance::expect_big_offsets([] { return std::make_unique<CascadeBackend>(); }, *device_);
}

TEST_F(CascadeGpu, agrees_with_the_reference_behind_a_long_prefix) {
  for (const std::int64_t q_len : {1, 5, 33}) expect_agreement(behind_one_prefix(q_len));
}

TEST_F(CascadeGpu, reads_the_scales_of_heads_and_rounds_outputs_in_fp8_once) {
  for (Case c : {behind_one_prefix(1), behind_one_prefix(5), behind_three_levels(1)}) {
    c.kv_cache.dtype = DType::kE4M3;
    c.kv_cache.scales = KvScales::kHead;
    EXPECT_FALSE(CascadeBackend().formats(problem_of(c)).empty());
    expect_agreement(c);
    for (const DType out : {DType::kE4M3, DType::kE5M2}) {
      c.fp8.out = out;
      c.out_scale = 0.07f;
      expect_agreement(c);
    }
  }
}

TEST_F(CascadeGpu, agrees_with_the_reference_behind_three_levels_of_prefixes) {
  for (const std::int64_t q_len : {1, 5, 33}) expect_agreement(behind_three_levels(q_len));
}

TEST_F(CascadeGpu, lets_sinks_join_once) {
  Case c = behind_one_prefix(1);
  c.layer.has_sinks = true;
  expect_agreement(c);
  Case levels = behind_three_levels(1);
  levels.layer.has_sinks = true;
  expect_agreement(levels);
}

TEST_F(CascadeGpu, has_no_graphs_although_its_kernels_do) {
  EXPECT_EQ(CascadeBackend().info().cuda_graph, CudaGraphSupport::kNever);
  const Case c = behind_one_prefix(1);
  Fixture fixture(c, *device_);
  PlanMemory memory(*device_);
  const auto stream = device_->make_stream();
  const auto plan = CascadeBackend().plan(fixture.batch(), memory);
  EXPECT_FALSE(plan->update(fixture.batch(), *stream));
}

TEST_F(CascadeGpu, says_why_it_cannot) {
  EXPECT_EQ(CascadeBackend().supports(problem_of(small_sliding_window())).reason(),
            "no sliding window: all queries see a prefix whole, and in one form of themselves");
}

}  // namespace
}  // namespace attnbench::cascade
