// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"
#include "backends/wrappers/testing/prompt_cases.h"
#include "lib/device/device.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_ragged() {
  return with_ragged_keys(std::make_unique<cpu_flash::CpuFlashBackend>(), merge_states_on_cpu);
}

void expect_agreement_under(const std::function<void(Case&)>& change) {
  const auto device = make_cpu_device();
  for (Case c : prompt_cases()) {
    change(c);
    Fixture fixture(c, *device);
    const auto backend = make_ragged();
    ASSERT_TRUE(backend->supports(problem_of(c))) << backend->supports(problem_of(c)).reason();
    for (const Fill fill : kFills) {
      conformance::expect_agreement(*backend, c, fill, *device, fixture);
    }
  }
}

TEST(RaggedPaged, conforms) { conformance::expect_all(make_ragged); }

TEST(RaggedPaged, agrees_with_the_reference_with_and_without_prefixes) {
  expect_agreement_under([](Case&) {});
}

TEST(RaggedPaged, lets_sinks_join_once_and_softcap_both_passes) {
  expect_agreement_under([](Case& c) {
    c.layer.has_sinks = true;
    c.layer.logit_cap = 5;
  });
}

/// Of 1 key, within the new keys, across the first of them, and wider than any request.
constexpr std::int64_t kWindows[] = {0, 1, 20, 100, 1000};

TEST(RaggedPaged, gives_each_pass_its_share_of_a_window) {
  for (const std::int64_t window : kWindows) {
    for (const bool causal : {true, false}) {
      expect_agreement_under([&](Case& c) {
        c.layer.sliding_window_size = window;
        c.layer.causal = causal;
      });
    }
  }
}

TEST(RaggedPaged, gives_each_pass_its_share_of_a_window_beside_sinks_and_softcap) {
  expect_agreement_under([](Case& c) {
    c.layer.sliding_window_size = 20;
    c.layer.has_sinks = true;
    c.layer.logit_cap = 5;
  });
}

TEST(RaggedPaged, slopes_alibi_over_both_passes) {
  for (const std::int64_t window : {-1, 20}) {
    expect_agreement_under([&](Case& c) {
      c.layer.has_alibi = true;
      c.layer.sliding_window_size = window;
    });
  }
}

TEST(RaggedPaged, rounds_outputs_in_fp8_once_where_passes_are_merged) {
  for (const DType dtype : {DType::kE4M3, DType::kE5M2}) {
    expect_agreement_under([&](Case& c) {
      c.fp8.q = DType::kE4M3;
      c.fp8.q_scales = QScales::kToken;
      c.fp8.out = dtype;
      c.out_scale = 0.07f;
    });
  }
}

TEST(RaggedPaged, reads_no_key_that_a_window_s_own_pool_has_given_back) {
  expect_agreement_under([](Case& c) {
    c.layer.sliding_window_size = 20;
    c.kv_cache.swa_pool = true;
  });
}

TEST(RaggedPaged, takes_a_latent_cache) {
  expect_agreement_under([](Case& c) {
    c.layer = small_mla().layer;
    c.layer.heads_q = 4;
    c.layer.head_dim_qk = 96;
    c.layer.head_dim_v = 64;
  });
}

TEST(RaggedPaged, reads_pages_alone_where_new_keys_are_not_what_is_cached) {
  expect_agreement_under([](Case& c) { c.kv_cache.k_scale = 0.37f; });
  expect_agreement_under([](Case& c) { c.kv_cache.v_scale = 0.11f; });
}

/// Overwrites the slots of this step's keys with NaN.
void poison_new_slots(Fixture& fixture) {
  const ForwardBatch& batch = fixture.batch();
  const KvPool& pool = fixture.kv_pool();
  for (const std::int64_t slot : batch.out_cache_loc) {
    for (int head = 0; head < pool.heads_kv; ++head) {
      std::memset(pool.k_row(slot, head), 0xff, to_size(pool.head_dim_k * size_bytes(pool.dtype)));
      std::memset(pool.v_row(slot, head), 0xff, to_size(pool.head_dim_v * size_bytes(pool.dtype)));
    }
  }
}

TEST(RaggedPaged, reads_no_slot_of_the_new_keys) {
  const auto device = make_cpu_device();
  for (const Case& c : prompt_cases()) {
    SCOPED_TRACE(c.id);
    Fixture fixture(c, *device);
    fixture.fill(Fill::kNormal);
    const auto backend = make_ragged();
    PlanMemory memory(*device);
    const std::unique_ptr<Plan> plan = backend->plan(fixture.batch(), memory);
    const auto stream = device->make_stream();
    plan->run(*stream);
    const conformance::Outputs before = conformance::outputs_of(fixture);
    poison_new_slots(fixture);
    fixture.poison_outputs();
    plan->run(*stream);
    EXPECT_EQ(conformance::outputs_of(fixture), before);
  }
}

TEST(RaggedPaged, gives_a_request_the_same_bits_in_every_batch) {
  for (const Case& c : prompt_cases()) conformance::expect_batch_invariance(make_ragged, c);
}

TEST(RaggedPaged, takes_part_by_name_alone) {
  const auto backend = make_ragged();
  EXPECT_EQ(backend->info().name, "cpu_flash:ragged_paged");
  EXPECT_FALSE(backend->info().by_default);
  EXPECT_EQ(backend->info().cuda_graph, CudaGraphSupport::kNever);
}

TEST(RaggedPaged, refuses_what_two_passes_cannot_see) {
  const auto backend = make_ragged();
  const auto reason_of = [&](const std::function<void(Problem&)>& change) {
    Problem problem = problem_of(prompt_cases().front());
    EXPECT_TRUE(backend->supports(problem));
    change(problem);
    return backend->supports(problem).reason();
  };
  const auto expect_refusal = [&](const char* words, const std::function<void(Problem&)>& change) {
    EXPECT_THAT(reason_of(change), testing::HasSubstr(words));
  };
  expect_refusal("chunks", [](Problem& p) { p.layer.attention_chunk = 16; });
  expect_refusal("temperature", [](Problem& p) { p.layer.temperature_len = 16; });
  expect_refusal("dual chunks", [](Problem& p) { p.layer.dual_chunk = {8, 2}; });
  expect_refusal("cross attention", [](Problem& p) { p.layer.is_cross_attention = true; });
  expect_refusal("multi-item", [](Problem& p) { p.multi_item = true; });
  expect_refusal("recurrent", [](Problem& p) { p.layer.family = Family::kGatedDeltaNet; });
  expect_refusal("prompts and mixed steps", [](Problem& p) { p.mode = ForwardMode::kDecode; });
  expect_refusal("prompts and mixed steps",
                 [](Problem& p) { p.mode = ForwardMode::kTargetVerify; });
  expect_refusal("before the first key", [](Problem& p) { p.empty_rows = true; });
  expect_refusal("activations' type", [](Problem& p) { p.cache.dtype = DType::kE4M3; });
}

}  // namespace
}  // namespace attnbench
