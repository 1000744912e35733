// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/format_choice.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attnbench {
namespace {

/// Reads some layouts, and of these supports some.
class Reader final : public Backend {
 public:
  Reader(std::vector<KvLayout> reads, std::vector<KvLayout> supports,
         DeviceKind device = DeviceKind::kCpu)
      : reads_(std::move(reads)), supports_(std::move(supports)) {
    info_.device = device;
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override { return reads_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    for (const KvLayout layout : supports_) {
      if (layout == problem.cache.layout) return Support::yes();
    }
    return Support::no("no " + std::string(to_string(problem.cache.layout)) + " kernel");
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return nullptr;
  }

 private:
  BackendInfo info_;
  std::vector<KvLayout> reads_, supports_;
};

/// Reads what a backend reads that says nothing.
class Silent final : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return nullptr;
  }

 private:
  BackendInfo info_;
};

Problem heads_of(int dim_k, int dim_v) {
  Problem problem;
  problem.layer.heads_q = problem.layer.heads_kv = 2;
  problem.layer.head_dim_qk = dim_k;
  problem.layer.head_dim_v = dim_v;
  return problem;
}

constexpr auto kHnd = KvLayout::kHnd;
constexpr auto kNhd = KvLayout::kNhd;
constexpr auto kCombined = KvLayout::kCombined;
constexpr auto kXPacked = KvLayout::kXPacked;

TEST(ChooseFormat, takes_the_first_layout_that_the_backend_supports) {
  const Reader backend({kXPacked, kHnd, kNhd}, {kHnd, kNhd});
  const FormatChoice choice = choose_format(backend, heads_of(64, 64), {});
  EXPECT_TRUE(choice);
  EXPECT_EQ(choice.layout, kHnd);
}

TEST(ChooseFormat, takes_no_other_than_the_one_that_is_asked_for) {
  const Reader backend({kHnd, kNhd}, {kHnd, kNhd});
  EXPECT_EQ(choose_format(backend, heads_of(64, 64), kNhd).layout, kNhd);
  const FormatChoice refused = choose_format(backend, heads_of(64, 64), kXPacked);
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.support.reason(), "reads no x_packed cache, but HND, NHD");
}

TEST(ChooseFormat, has_no_cache_with_scales_behind_its_pages_on_a_gpu) {
  Problem problem = heads_of(512, 512);
  problem.layer.family = Family::kLatent;
  problem.cache.dtype = DType::kE4M3;
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const Reader backend({kNhd}, {kNhd}, device);
    problem.cache.scales = KvScales::kBlock;
    EXPECT_TRUE(choose_format(backend, problem, {}));
    problem.cache.scales = KvScales::kGroup;
    const FormatChoice choice = choose_format(backend, problem, {});
    EXPECT_EQ(bool(choice), device == DeviceKind::kCpu);
    if (choice) continue;
    EXPECT_EQ(choice.support.reason(),
              "no cache of fp8_ds_mla of V4 on a GPU: only processors have one");
  }
  EXPECT_EQ(choose_format(Reader({}, {}), problem, {}).support.reason(),
            "reads no cache of fp8_ds_mla of V4");
}

TEST(ChooseFormat, skips_what_the_layer_s_cache_cannot_be) {
  const Reader backend({kCombined, kXPacked, kNhd}, {kCombined, kXPacked, kNhd});
  EXPECT_EQ(choose_format(backend, heads_of(64, 64), {}).layout, kCombined);
  EXPECT_EQ(choose_format(backend, heads_of(64, 32), {}).layout, kXPacked);
  EXPECT_EQ(choose_format(backend, heads_of(60, 32), {}).layout, kNhd);
}

TEST(ChooseFormat, gives_the_backend_s_reason_in_the_layout_that_it_likes_best) {
  const Reader backend({kHnd, kNhd}, {});
  EXPECT_EQ(choose_format(backend, heads_of(64, 64), {}).support.reason(), "no HND kernel");
}

TEST(ChooseFormat, knows_that_the_rows_of_mla_lie_the_same_way_in_nhd_and_hnd) {
  Problem problem = heads_of(576, 512);
  problem.layer.family = Family::kLatent;
  EXPECT_TRUE(choose_format(Reader({kNhd}, {kNhd, kHnd}), problem, kHnd));
}

TEST(ChooseFormat, gives_a_recurrent_layer_the_first_order_of_states_that_is_named) {
  Problem problem = heads_of(128, 128);
  problem.layer.family = Family::kGatedDeltaNet;
  const Reader reader({kHnd, KvLayout::kStatesVk, KvLayout::kStatesKv}, {kNhd});
  EXPECT_EQ(choose_format(reader, problem, {}).layout, KvLayout::kStatesVk);
  EXPECT_EQ(choose_format(Reader({kHnd}, {kNhd}), problem, {}).layout, KvLayout::kStatesKv);
  EXPECT_EQ(choose_format(Silent(), problem, {}).layout, KvLayout::kStatesKv);
  EXPECT_FALSE(choose_format(Reader({KvLayout::kStatesVk}, {}), problem, {}));
}

TEST(ChooseFormat, gives_strided_rows_and_one_scale_to_a_backend_that_says_nothing) {
  Problem problem = heads_of(64, 64);
  problem.cache.dtype = DType::kE4M3;
  const Silent backend;
  EXPECT_TRUE(choose_format(backend, problem, kCombined));
  EXPECT_FALSE(choose_format(backend, problem, kXPacked));
  problem.cache.scales = KvScales::kToken;
  EXPECT_EQ(choose_format(backend, problem, {}).support.reason(),
            "reads no e4m3 cache with a scale per token");
}

TEST(ChooseFormat, takes_ragged_keys_only_where_they_are_asked_for) {
  const Reader backend({KvLayout::kRagged, kNhd}, {KvLayout::kRagged, kNhd});
  EXPECT_EQ(choose_format(backend, heads_of(64, 64), {}).layout, kNhd);
  EXPECT_EQ(choose_format(backend, heads_of(64, 64), KvLayout::kRagged).layout, KvLayout::kRagged);
  const Reader ragged_alone({KvLayout::kRagged}, {KvLayout::kRagged});
  EXPECT_FALSE(choose_format(ragged_alone, heads_of(64, 64), {}));
  EXPECT_EQ(choose_format(Silent(), heads_of(64, 64), KvLayout::kRagged).support.reason(),
            "reads no ragged cache, but NHD, HND, combined");
}

/// Takes activations in fp8 where it says so.
class TakesFp8 final : public Backend {
 public:
  TakesFp8(bool queries, bool outputs) {
    info_.reads_fp8_queries = queries;
    info_.writes_fp8_outputs = outputs;
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return nullptr;
  }

 private:
  BackendInfo info_;
};

TEST(ChooseFormat, asks_only_those_backends_about_fp8_that_say_they_take_it) {
  Problem problem = heads_of(64, 64);
  problem.fp8.q = DType::kE4M3;
  EXPECT_EQ(choose_format(Silent(), problem, {}).support.reason(), "reads no queries in e4m3");
  EXPECT_TRUE(choose_format(TakesFp8(true, false), problem, {}));
  problem.fp8.out = DType::kE5M2;
  EXPECT_EQ(choose_format(TakesFp8(true, false), problem, {}).support.reason(),
            "writes no outputs in e5m2");
  EXPECT_TRUE(choose_format(TakesFp8(true, true), problem, {}));
  problem.step = StepPart::kKvWrite;
  EXPECT_TRUE(choose_format(Silent(), problem, {})) << "a write has neither";
}

}  // namespace
}  // namespace attnbench
