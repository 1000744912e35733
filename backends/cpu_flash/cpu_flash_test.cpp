// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/cpu_flash.h"

#include <omp.h>

#include "backends/testing/conformance.h"

namespace attnbench {
namespace {

std::unique_ptr<AttentionBackend> make() { return std::make_unique<CpuFlashBackend>(); }

/// Contexts beyond one split, with ragged ends; few query rows, so that they are split.
Case long_case(const Case& small) {
  Case c = small;
  c.id = small.mix + "/long";
  for (Request& request : c.requests) request.kv_len += 1100;
  return c;
}

TEST(CpuFlash, agrees_with_the_reference_on_every_case_fill_and_dtype) {
  conformance::expect_agreement(make);
}

TEST(CpuFlash, repeats_its_bits) { conformance::expect_repeatable(make); }

TEST(CpuFlash, gives_the_same_bits_on_other_pages) {
  conformance::expect_page_permutation_invariance(make);
}

TEST(CpuFlash, runs_an_idle_batch) { conformance::expect_idle(make); }

TEST(CpuFlash, gives_a_request_the_same_bits_alone_and_in_a_batch) {
  for (const Case& c : all_small_cases()) conformance::expect_batch_invariance(make, c);
  conformance::expect_batch_invariance(make, long_case(small_fp8()));
}

TEST(CpuFlash, agrees_with_the_reference_where_contexts_are_split) {
  const auto device = make_cpu_device();
  for (const Case& small : all_small_cases()) {
    const Case c = long_case(small);
    CpuFlashBackend backend;
    Fixture fixture(c, *device);
    for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) {
      conformance::expect_agreement(backend, c, fill, *device, fixture);
    }
  }
}

TEST(CpuFlash, gives_the_same_bits_on_one_thread_and_on_three) {
  const auto device = make_cpu_device();
  const int before = omp_get_max_threads();
  for (const Case& c : {long_case(small_fp8()), small_chunked_mixed()}) {
    Fixture fixture(c, *device);
    fixture.fill(Fill::kNormal);
    CpuFlashBackend backend;
    omp_set_num_threads(1);
    const conformance::Outputs one = conformance::forward(backend, fixture, *device);
    omp_set_num_threads(3);
    EXPECT_TRUE(one == conformance::forward(backend, fixture, *device)) << c.id;
  }
  omp_set_num_threads(before);
}

TEST(CpuFlash, takes_head_sizes_that_fill_no_whole_vector) {
  const auto device = make_cpu_device();
  for (Case c : {small_prefix_hits(), small_plain_decode(), small_draft_extend()}) {
    c.layer.head_dim_qk = 21;
    c.layer.head_dim_v = 13;
    CpuFlashBackend backend;
    Fixture fixture(c, *device);
    conformance::expect_agreement(backend, c, Fill::kNormal, *device, fixture);
  }
}

TEST(CpuFlash, knows_each_meaning_of_a_window_and_alibi_s_slopes) {
  const auto device = make_cpu_device();
  for (const std::vector<Case>& cases : {small_windows(), small_slopes()}) {
    for (const Case& c : cases) {
      CpuFlashBackend backend;
      Fixture fixture(c, *device);
      conformance::expect_agreement(backend, c, Fill::kNormal, *device, fixture);
    }
  }
}

}  // namespace
}  // namespace attnbench
