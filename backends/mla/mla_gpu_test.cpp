// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/mla.h"

#include "backends/conformance.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

class MlaGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string absence = cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    device_ = make_cuda_device();
  }

  void expect_agreement(const Case& c) {
    MlaBackend backend;
    ASSERT_TRUE(backend.supports(c, *device_)) << backend.supports(c, *device_).reason();
    Fixture fixture(c, *device_);
    for (const Fill fill : {Fill::kTag, Fill::kNeedle, Fill::kNormal}) {
      conformance::expect_agreement(backend, c, fill, *device_, fixture);
    }
  }

  std::unique_ptr<Device> device_;
};

/// Lengths around tiles, pages and splits.
Case decode(int heads, std::int64_t page_size, DType kv = DType::kBF16) {
  Case c = small_mla();
  c.id = "mla/h" + std::to_string(heads) + ",ps" + std::to_string(page_size);
  c.layer.heads_q = heads;
  c.kv_cache.page_size = page_size;
  c.kv_cache.dtype = kv;
  if (size_bytes(kv) == 1) c.kv_cache.k_scale = c.kv_cache.v_scale = 0.37f;
  c.requests.clear();
  for (const std::int64_t len : {1, 31, 32, 33, 64, 65, 255, 257, 513, 1000, 2049}) {
    Request request;
    request.group = "decode";
    request.kv_len = len;
    c.requests.push_back(request);
  }
  return c;
}

TEST_F(MlaGpu, conforms) {
  conformance::expect_all([] { return std::make_unique<MlaBackend>(); }, *device_);
}

TEST_F(MlaGpu, agrees_with_the_reference_for_any_number_of_heads) {
  for (const int heads : {1, 8, 16, 17, 64, 128}) expect_agreement(decode(heads, 64));
}

TEST_F(MlaGpu, agrees_with_the_reference_on_any_page_size_and_kv_type) {
  for (const std::int64_t page_size : {1, 32, 64, 128}) expect_agreement(decode(16, page_size));
  for (const DType kv : {DType::kE4M3, DType::kE5M2}) {
    expect_agreement(decode(16, 64, kv));
    expect_agreement(decode(128, 64, kv));
  }
}

TEST_F(MlaGpu, extends_causally_and_inside_a_window) {
  Case c = decode(16, 64);
  c.mode = ForwardMode::kExtend;
  for (Request& request : c.requests) request.q_len = std::min<std::int64_t>(request.kv_len, 9);
  expect_agreement(c);
  c.layer.sliding_window_size = 100;
  c.layer.logit_cap = 30;
  expect_agreement(c);
}

TEST_F(MlaGpu, checks_draft_trees) {
  Case c = small_tree_verify();
  c.layer = small_mla().layer;
  c.kv_cache = small_mla().kv_cache;
  c.prefixes.clear();
  for (Request& request : c.requests) request.shared_prefix = -1, request.shared_len = 0;
  expect_agreement(c);
}

TEST_F(MlaGpu, says_why_it_cannot) {
  EXPECT_FALSE(MlaBackend().supports(small_prefix_hits(), *device_));
  EXPECT_FALSE(MlaBackend().supports(decode(16, 48), *device_));
}

}  // namespace
}  // namespace attnbench
