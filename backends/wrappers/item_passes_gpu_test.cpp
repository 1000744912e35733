// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gmock/gmock.h>

#include "backends/cascade/cascade.h"
#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/splitkv/splitkv.h"
#include "backends/testing/conformance.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

class ItemPassesGpu : public GpuTest {
 protected:
  void expect_agreement(std::initializer_list<Backend*> backends, const Case& c) {
    for (const Backend* const backend : backends) {
      ASSERT_TRUE(backend->supports(problem_of(c))) << backend->supports(problem_of(c)).reason();
    }
    Fixture fixture(c, *device_);
    conformance::expect_agreement(
        backends, c, {Fill::kTag, Fill::kNeedle, Fill::kExtreme, Fill::kNormal}, *device_, fixture);
  }
  void expect_agreement(const Case& c) {
    expect_agreement(
        {by_slot().get(), in_pages(std::make_unique<paged_fa::PagedFaBackend>()).get()}, c);
  }
  static std::unique_ptr<Backend> by_slot() {
    return with_item_passes(std::make_unique<splitkv::SplitKvBackend>(), ItemKeys::kBySlot,
                            merge_states_on_gpu);
  }
  static std::unique_ptr<Backend> in_pages(std::unique_ptr<Backend> kernels) {
    return with_item_passes(std::move(kernels), ItemKeys::kInPages, merge_states_on_gpu);
  }
};

/// Heads of 128, for which every build has kernels.
Case items() {
  Case c = small_items();
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  c.kv_cache.layout = KvLayout::kNhd;
  return c;
}

TEST_F(ItemPassesGpu, agree_with_the_reference) { expect_agreement(items()); }

TEST_F(ItemPassesGpu, let_sinks_join_once_also_for_delimiters) {
  Case c = items();
  c.layer.has_sinks = true;
  c.layer.logit_cap = 5;
  expect_agreement(c);
}

TEST_F(ItemPassesGpu, find_keys_in_pages_of_any_size_and_type) {
  for (const std::int64_t page_size : {1, 3, 64}) {
    for (const DType dtype : {DType::kBF16, DType::kE4M3}) {
      Case c = items();
      c.kv_cache.page_size = page_size;
      c.kv_cache.dtype = dtype;
      if (size_bytes(dtype) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      expect_agreement(c);
    }
  }
}

TEST_F(ItemPassesGpu, score_long_items_behind_a_long_prompt) {
  Case c = items();
  c.requests.resize(2);
  c.requests[0].q_len = 500;
  c.requests[0].kv_len = 1100;
  c.requests[0].items = {150, 1, 70, 66, 129};
  c.requests[1].q_len = c.requests[1].kv_len = 350;
  c.requests[1].items = {128, 64, 65, 63};
  expect_agreement(c);
}

TEST_F(ItemPassesGpu, of_latent_rows_agree_with_the_reference) {
  const auto with = in_pages(std::make_unique<mla::MlaBackend>(true));
  const auto without = in_pages(std::make_unique<mla::MlaBackend>(false));
  for (const std::int64_t page_size : {1, 64}) {
    for (const DType dtype : {DType::kBF16, DType::kE4M3}) {
      Case c = small_latent_items();
      c.kv_cache.page_size = page_size;
      c.kv_cache.dtype = dtype;
      if (size_bytes(dtype) == 1) c.kv_cache.k_scale = c.kv_cache.v_scale = 0.37f;
      expect_agreement({with.get(), without.get()}, c);
      // Items of more than a tile's keys, and keys before them that are split. The reference makes
      // 35 MFLOP of a token's rows for 1000 keys, so that prompts are short.
      c.requests.resize(2);
      c.requests[0].q_len = 100;
      c.requests[0].kv_len = 600;
      c.requests[0].items = {65, 1, 20};
      expect_agreement({with.get(), without.get()}, c);
    }
  }
}

TEST_F(ItemPassesGpu, are_refused_where_they_cannot_be_seen) {
  Problem problem = problem_of(items());
  EXPECT_THAT(cascade::CascadeBackend().supports(problem).reason(),
              testing::HasSubstr("multi-item"));
  Problem latent = problem_of(small_latent_items());
  latent.cache.layout = KvLayout::kHnd;
  EXPECT_THAT(in_pages(std::make_unique<mla::MlaBackend>())->supports(latent).reason(),
              testing::HasSubstr("no HND cache in pages of 64"));
  problem.cache.layout = KvLayout::kHnd;
  EXPECT_TRUE(by_slot()->supports(problem));
  EXPECT_THAT(in_pages(std::make_unique<paged_fa::PagedFaBackend>())->supports(problem).reason(),
              testing::HasSubstr("no HND cache in pages of 16"));
}

}  // namespace
}  // namespace attnbench
