// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <functional>

#include "backends/paged_fa/paged_fa.h"
#include "backends/testing/conformance.h"
#include "backends/wrappers/testing/prompt_cases.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_ragged_paged_fa() {
  return with_ragged_keys(std::make_unique<paged_fa::PagedFaBackend>(), merge_states_on_gpu);
}

class RaggedPagedGpu : public GpuTest {
 protected:
  /// Of heads of 128, for which every build has kernels; short, and long enough to be cut.
  void expect_agreement_under(const std::function<void(Case&)>& change) {
    for (const std::int64_t further : {0, 1700}) {
      for (Case c : prompt_cases()) {
        c.layer.head_dim_qk = c.layer.head_dim_v = 128;
        for (Request& request : c.requests) {
          if (request.kv_len > request.q_len) request.kv_len += further;
        }
        change(c);
        Fixture fixture(c, *device_);
        const auto backend = make_ragged_paged_fa();
        ASSERT_TRUE(backend->supports(problem_of(c))) << backend->supports(problem_of(c)).reason();
        conformance::expect_agreement(*backend, c,
                                      {Fill::kTag, Fill::kNeedle, Fill::kExtreme, Fill::kNormal},
                                      *device_, fixture);
      }
    }
  }
};

TEST_F(RaggedPagedGpu, conforms) { conformance::expect_all(make_ragged_paged_fa, *device_); }

TEST_F(RaggedPagedGpu, agrees_with_the_reference_with_and_without_prefixes) {
  expect_agreement_under([](Case&) {});
}

TEST_F(RaggedPagedGpu, lets_sinks_join_once_and_softcap_both_passes) {
  expect_agreement_under([](Case& c) {
    c.layer.has_sinks = true;
    c.layer.logit_cap = 5;
  });
}

TEST_F(RaggedPagedGpu, gives_each_pass_its_share_of_a_window) {
  for (const std::int64_t window : {0, 20, 100, 1000, 5000}) {
    for (const bool causal : {true, false}) {
      expect_agreement_under([&](Case& c) {
        c.layer.sliding_window_size = window;
        c.layer.causal = causal;
      });
    }
  }
}

TEST_F(RaggedPagedGpu, gives_each_pass_its_share_of_a_window_beside_sinks_and_softcap) {
  expect_agreement_under([](Case& c) {
    c.layer.sliding_window_size = 100;
    c.layer.has_sinks = true;
    c.layer.logit_cap = 5;
  });
}

TEST_F(RaggedPagedGpu, reads_no_key_that_a_window_s_own_pool_has_given_back) {
  expect_agreement_under([](Case& c) {
    c.layer.sliding_window_size = 100;
    c.kv_cache.swa_pool = true;
  });
}

TEST_F(RaggedPagedGpu, rounds_outputs_in_fp8_once_where_passes_are_merged) {
  for (const DType out : {DType::kE4M3, DType::kE5M2}) {
    expect_agreement_under([&](Case& c) {
      c.fp8.out = out;
      c.out_scale = 0.07f;
    });
  }
}

TEST_F(RaggedPagedGpu, takes_pages_of_any_size_in_either_order) {
  for (const std::int64_t page_size : {1, 24, 256}) {
    for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd}) {
      expect_agreement_under([&](Case& c) {
        c.kv_cache.page_size = page_size;
        c.kv_cache.layout = layout;
      });
    }
  }
}

TEST_F(RaggedPagedGpu, reads_long_prompts_where_they_lie) {
  Case c = prompt_cases().front();
  c.layer.heads_q = 16;
  c.layer.heads_kv = 8;
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  c.requests.resize(3);
  c.requests[0].q_len = c.requests[0].kv_len = 515;
  c.requests[1].q_len = c.requests[1].kv_len = 255;
  c.requests[2].q_len = 350;
  c.requests[2].kv_len = 1250;
  Fixture fixture(c, *device_);
  const auto backend = make_ragged_paged_fa();
  conformance::expect_agreement(*backend, c, {Fill::kTag, Fill::kNeedle, Fill::kNormal}, *device_,
                                fixture);
}

TEST_F(RaggedPagedGpu, cuts_windows_in_long_prompts_where_they_lie) {
  Case c = prompt_cases().front();
  c.layer.heads_q = 16;
  c.layer.heads_kv = 8;
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  c.requests.resize(2);
  c.requests[0].q_len = 261;
  c.requests[0].kv_len = 2734;
  c.requests[1].q_len = c.requests[1].kv_len = 511;
  for (const std::int64_t window : {77, 1023, 2345}) {
    c.layer.sliding_window_size = window;
    Fixture fixture(c, *device_);
    const auto backend = make_ragged_paged_fa();
    conformance::expect_agreement(*backend, c, {Fill::kNeedle, Fill::kNormal}, *device_, fixture);
  }
}

}  // namespace
}  // namespace attnbench
