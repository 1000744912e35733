// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/torch_native/torch_native.h"

#include "backends/testing/conformance.h"

namespace attnbench::torch_native {
namespace {

std::unique_ptr<Backend> make() { return std::make_unique<TorchNativeBackend>(); }

TEST(TorchNative, agrees_with_the_reference_on_every_case_fill_and_dtype) {
  conformance::expect_agreement(make);
}

// Integers make weights alike, and f32 sums of like terms drift.
TEST(TorchNative, keeps_its_sums_short_over_a_long_context) {
  Case c = small_plain_decode();
  c.requests.resize(1);
  c.requests[0].kv_len = 200000;
  c.layer.heads_q = c.layer.heads_kv = 1;
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  const auto backend = make();
  for (const Fill fill : {Fill::kSparseInt, Fill::kTag, Fill::kNormal}) {
    conformance::expect_agreement(*backend, c, fill, *device, fixture);
  }
}

TEST(TorchNative, leaves_real_rows_as_they_are_beside_padding) {
  conformance::expect_padding_changes_nothing(make);
}

TEST(TorchNative, reads_pages_beyond_2_32_bytes) {
  conformance::expect_far_pages(make, *make_cpu_device());
}

TEST(TorchNative, repeats_its_bits) { conformance::expect_repeatable(make); }

TEST(TorchNative, gives_the_same_bits_on_other_pages) {
  conformance::expect_page_permutation_invariance(make);
}

TEST(TorchNative, runs_an_idle_batch) { conformance::expect_idle(make); }

TEST(TorchNative, knows_each_meaning_of_a_window_and_alibi_s_slopes) {
  const auto device = make_cpu_device();
  for (const std::vector<Case>& cases : {small_windows(), small_temperatures(), small_slopes()}) {
    for (const Case& c : cases) {
      TorchNativeBackend backend;
      Fixture fixture(c, *device);
      conformance::expect_agreement(backend, c, Fill::kNormal, *device, fixture);
    }
  }
}

}  // namespace
}  // namespace attnbench::torch_native
