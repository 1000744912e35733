// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/step_support.h"

#include <gtest/gtest.h>

#include <string>

namespace attnbench {
namespace {

BackendInfo cache_writer() {
  BackendInfo info;
  info.writes_kv = true;
  return info;
}

Case part(StepPart step) {
  Case c;
  c.step = step;
  return c;
}

TEST(StepSupport, asks_every_backend_for_attention) {
  EXPECT_TRUE(bool(supports_step({}, part(StepPart::kAttention))));
}

TEST(StepSupport, asks_for_writes_only_where_a_backend_says_that_it_writes) {
  for (const StepPart step : {StepPart::kKvWrite, StepPart::kBoth}) {
    EXPECT_TRUE(bool(supports_step(cache_writer(), part(step))));
    EXPECT_EQ(supports_step({}, part(step)).reason(), "it writes no KV cache: attention alone");
  }
}

TEST(StepSupport, asks_for_index_arrays_only_where_a_backend_says_that_it_builds_them) {
  BackendInfo builder;
  builder.builds_indices = {IndexForm::kCsr};
  Case c = part(StepPart::kIndex);
  EXPECT_TRUE(bool(supports_step(builder, c)));
  EXPECT_EQ(supports_step(cache_writer(), c).reason(), "it builds no index arrays");
  c.index_form = IndexForm::kPageTable;
  EXPECT_EQ(supports_step(builder, c).reason(), "it builds csr, not page_table");
}

TEST(StepSupport, asks_for_no_index_arrays_of_a_step_that_has_none) {
  BackendInfo builder;
  builder.builds_indices = {IndexForm::kCsr};
  Case recurrent = part(StepPart::kIndex);
  recurrent.layer.family = Family::kGatedDeltaNet;
  EXPECT_EQ(supports_step(builder, recurrent).reason(),
            "a recurrent layer has no KV cache to index");
  Case ragged = part(StepPart::kIndex);
  ragged.kv_cache.layout = KvLayout::kRagged;
  EXPECT_EQ(supports_step(builder, ragged).reason(),
            "ragged keys lie one behind the other, in no pool to index");
  Case idle = part(StepPart::kIndex);
  idle.mode = ForwardMode::kIdle;
  EXPECT_EQ(supports_step(builder, idle).reason(), "an idle step has no keys to index");
}

TEST(StepSupport, asks_for_no_writes_of_what_is_not_exact) {
  Case c = part(StepPart::kKvWrite);
  c.kv_cache.dtype = DType::kF32;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c)));
  c.kv_cache.dtype = DType::kF16;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c))) << "as wide as bf16, but finer";
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.37f;
  EXPECT_TRUE(bool(supports_step(cache_writer(), c)));
  c.kv_cache.dtype = DType::kBF16;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c))) << "quotients by 0.37 are rounded";
  Case ragged = part(StepPart::kBoth);
  ragged.kv_cache.layout = KvLayout::kRagged;
  EXPECT_EQ(supports_step(cache_writer(), ragged).reason(),
            "ragged keys are read where projections left them");
  ragged.step = StepPart::kAttention;
  EXPECT_TRUE(bool(supports_step(cache_writer(), ragged)));
  Case cross = part(StepPart::kBoth);
  cross.layer.is_cross_attention = true;
  EXPECT_EQ(supports_step(cache_writer(), cross).reason(),
            "cross attention reads none of the step's own keys: those of an encoder are written "
            "by kv_write, apart from it");
}

TEST(StepSupport, asks_for_no_write_of_an_idle_step_alone) {
  Case idle = part(StepPart::kKvWrite);
  idle.mode = ForwardMode::kIdle;
  idle.requests.clear();
  EXPECT_EQ(supports_step(cache_writer(), idle).reason(), "an idle step has no keys to write");
  EXPECT_TRUE(bool(supports_step(cache_writer(), with_step(idle, StepPart::kBoth))));
}

TEST(StepSupport, asks_for_the_write_of_encoders_that_are_not_cached_alone) {
  Case cross = part(StepPart::kAttention);
  cross.layer.is_cross_attention = true;
  cross.requests.resize(2);
  EXPECT_EQ(supports_step(cache_writer(), with_step(cross, StepPart::kKvWrite)).reason(),
            "cross attention: the step that brings an encoder's input writes its keys, and no "
            "encoder is new here");
  cross.requests[1].encoder_cached = false;
  EXPECT_TRUE(bool(supports_step(cache_writer(), with_step(cross, StepPart::kKvWrite))));
  EXPECT_FALSE(bool(supports_step(cache_writer(), with_step(cross, StepPart::kBoth))));
}

TEST(StepSupport, asks_for_writes_into_every_format_whose_numbers_activations_hold) {
  Case c = part(StepPart::kKvWrite);
  for (const KvLayout layout : kPoolLayouts) {
    c.kv_cache.layout = layout;
    EXPECT_TRUE(bool(supports_step(cache_writer(), c))) << to_string(layout);
  }
  for (const DType activations : {DType::kF32, DType::kF16, DType::kBF16}) {
    c.dtype = activations;
    const bool f16 = activations == DType::kF16;
    c.kv_cache.dtype = DType::kE4M3;
    for (const KvScales scales : {KvScales::kTensor, KvScales::kHead, KvScales::kToken}) {
      c.kv_cache.scales = scales;
      EXPECT_TRUE(bool(supports_step(cache_writer(), c))) << to_string(scales);
    }
    for (const KvScales scales : {KvScales::kBlock, KvScales::kGroup}) {
      c.kv_cache.scales = scales;
      EXPECT_EQ(bool(supports_step(cache_writer(), c)), !f16) << "the rope part is bf16";
    }
    c.kv_cache.dtype = DType::kE5M2;
    c.kv_cache.scales = KvScales::kToken;
    EXPECT_EQ(bool(supports_step(cache_writer(), c)), !f16) << "57344 to 2^-16 in one row";
  }
}

}  // namespace
}  // namespace attnbench
