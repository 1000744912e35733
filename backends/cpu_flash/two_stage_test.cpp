// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/two_stage.h"

#include "backends/testing/conformance.h"

namespace attnbench::cpu_flash {
namespace {

std::unique_ptr<Backend> make_two_stage() { return std::make_unique<TwoStageBackend>(); }

TEST(TwoStage, conforms) { conformance::expect_all(make_two_stage); }

TEST(TwoStage, lets_sinks_join_once_and_softcap_both_passes) {
  const auto device = make_cpu_device();
  Case c = small_tree_verify();
  c.layer.has_sinks = true;
  c.layer.logit_cap = 5;
  c.requests[0].kv_len = 6;  // nothing is committed: the first pass has the sink alone
  Fixture fixture(c, *device);
  TwoStageBackend backend;
  for (const Fill fill : conformance::kFills) {
    conformance::expect_agreement(backend, c, fill, *device, fixture);
  }
}

TEST(TwoStage, leaves_real_rows_as_they_are_beside_padding) {
  conformance::expect_padding_changes_nothing(make_two_stage);
}

TEST(TwoStage, takes_trees_whose_masks_no_place_decides) {
  const TwoStageBackend backend;
  EXPECT_TRUE(backend.supports(problem_of(small_tree_verify())));
  Case window = small_tree_verify();
  window.layer.sliding_window_size = 4;
  EXPECT_FALSE(backend.supports(problem_of(window)));
  EXPECT_FALSE(backend.supports(problem_of(small_plain_decode())));
}

}  // namespace
}  // namespace attnbench::cpu_flash
