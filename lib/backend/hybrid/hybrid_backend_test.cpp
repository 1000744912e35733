// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "lib/backend/hybrid/hybrid_backend.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

/// Takes one mode of steps, on some layouts.
class Part final : public StubBackend {
 public:
  Part(std::string name, ForwardMode mode, std::vector<KvLayout> layouts, Numerics numerics)
      : StubBackend(std::move(name)),
        mode_(mode),
        layouts_(std::move(layouts)),
        numerics_(numerics) {}

  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (problem.mode != mode_) return Support::no("another mode");
    return problem.limits.q_len > 1 && mode_ == ForwardMode::kDecode ? Support::no("long")
                                                                     : Support::yes();
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override { return layouts_; }
  [[nodiscard]] Numerics numerics(const Problem&) const override { return numerics_; }

 private:
  ForwardMode mode_;
  std::vector<KvLayout> layouts_;
  Numerics numerics_;
};

HybridBackend pair_of(ForwardMode prefill, ForwardMode decode, Phase mode = Phase::kPrefill) {
  using enum KvLayout;
  auto first = std::make_unique<Part>("first", prefill, std::vector{kHnd, kRagged, kNhd, kCombined},
                                      Numerics{.p = DType::kBF16, .partial_roundings = 2});
  auto second = std::make_unique<Part>("second", decode, std::vector{kNhd, kXPacked, kRagged, kHnd},
                                       Numerics{.qk_input = DType::kF16, .lse = false});
  BackendInfo info = hybrid_info("first+second", first->info(), second->info(), mode);
  return {std::move(info), std::move(first), std::move(second), mode};
}

Problem problem_in(ForwardMode mode) {
  Problem problem;
  problem.mode = mode;
  problem.limits = {4, mode == ForwardMode::kDecode ? 1 : 9, 12, 100};
  return problem;
}

TEST(HybridBackend, asks_each_backend_for_its_phase_and_says_which_one_refuses) {
  using enum ForwardMode;
  const HybridBackend pair = pair_of(kExtend, kDecode);
  for (const ForwardMode mode : {kExtend, kDecode, kMixed}) {
    EXPECT_TRUE(pair.supports(problem_in(mode))) << to_string(mode);
  }
  EXPECT_EQ(pair.supports(problem_in(kTargetVerify)).reason(), "first: another mode");
  EXPECT_EQ(pair_of(kExtend, kExtend).supports(problem_in(kMixed)).reason(),
            "second: another mode");
  EXPECT_EQ(pair_of(kDecode, kDecode).supports(problem_in(kMixed)).reason(), "first: another mode");
  EXPECT_TRUE(pair_of(kTargetVerify, kDecode).supports(problem_in(kTargetVerify)));
  EXPECT_EQ(
      pair_of(kTargetVerify, kDecode, Phase::kDecode).supports(problem_in(kTargetVerify)).reason(),
      "second: another mode");
}

TEST(HybridBackend, reads_in_a_mixed_step_what_both_read) {
  const HybridBackend pair = pair_of(ForwardMode::kExtend, ForwardMode::kDecode);
  EXPECT_THAT(pair.formats(problem_in(ForwardMode::kMixed)),
              ElementsAre(KvLayout::kHnd, KvLayout::kNhd))
      << "ragged keys of a part of the requests do not begin at row 0";
  EXPECT_THAT(pair.formats(problem_in(ForwardMode::kDecode)),
              ElementsAre(KvLayout::kNhd, KvLayout::kXPacked, KvLayout::kRagged, KvLayout::kHnd));
}

TEST(HybridBackend, is_held_to_the_coarser_roundings_of_both_in_a_mixed_step) {
  const HybridBackend pair = pair_of(ForwardMode::kExtend, ForwardMode::kDecode);
  const Numerics both = pair.numerics(problem_in(ForwardMode::kMixed));
  EXPECT_EQ(both.p, DType::kBF16);
  EXPECT_EQ(both.qk_input, DType::kF16);
  EXPECT_EQ(both.partial_roundings, 2);
  EXPECT_FALSE(both.lse);
  EXPECT_EQ(pair.numerics(problem_in(ForwardMode::kDecode)).p, DType::kF32);
  EXPECT_TRUE(pair.numerics(problem_in(ForwardMode::kExtend)).lse);
}

TEST(HybridInfo, is_what_holds_for_both) {
  BackendInfo prefill, decode;
  prefill.name = "a";
  prefill.version = decode.version = "1";
  prefill.kernel = "long";
  decode.name = "b";
  decode.kernel = "short";
  decode.deterministic = false;
  decode.device = prefill.device = DeviceKind::kCuda;
  prefill.writes_kv = true;
  prefill.padding_seq_len = 0;
  const BackendInfo info = hybrid_info("a+b", prefill, decode, Phase::kPrefill);
  EXPECT_EQ(info.name, "a+b");
  EXPECT_EQ(info.version, "1");
  EXPECT_EQ(info.kernel, "long + short");
  EXPECT_EQ(info.device, DeviceKind::kCuda);
  EXPECT_FALSE(info.deterministic);
  EXPECT_FALSE(info.writes_kv);
  EXPECT_FALSE(info.by_default);
  EXPECT_EQ(info.padding_seq_len, 1) << "the decode backend's";
  EXPECT_EQ(hybrid_info("b+a", decode, prefill, Phase::kPrefill).padding_seq_len, 0);
}

// SGLang captures decodes with the decode backend, and draft trees with that of the mode.
TEST(HybridInfo, claims_the_graphs_of_the_backend_that_computes_each_step) {
  using enum CudaGraphSupport;
  const auto claimed = [](CudaGraphSupport prefill, CudaGraphSupport decode, Phase mode) {
    BackendInfo first, second;
    first.cuda_graph = prefill;
    second.cuda_graph = decode;
    return hybrid_info("a+b", first, second, mode).cuda_graph;
  };
  EXPECT_EQ(claimed(kAlways, kNever, Phase::kPrefill), kNever);
  EXPECT_EQ(claimed(kNever, kAlways, Phase::kPrefill), kUniformSingleTokenDecode);
  EXPECT_EQ(claimed(kNever, kAlways, Phase::kDecode), kUniformBatch);
  EXPECT_EQ(claimed(kUniformBatch, kUniformSingleTokenDecode, Phase::kPrefill), kUniformBatch);
  EXPECT_EQ(claimed(kAlways, kUniformSingleTokenDecode, Phase::kDecode), kUniformSingleTokenDecode);
}

TEST(Phase, follows_sglangs_rule_in_both_speculative_attention_modes) {
  for (const Phase mode : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_EQ(phase_of(ForwardMode::kDecode, mode), Phase::kDecode);
    EXPECT_EQ(phase_of(ForwardMode::kIdle, mode), Phase::kDecode);
    EXPECT_EQ(phase_of(ForwardMode::kTargetVerify, mode), mode);
    EXPECT_EQ(phase_of(ForwardMode::kExtend, mode), Phase::kPrefill);
    EXPECT_EQ(phase_of(ForwardMode::kDraftExtend, mode), Phase::kPrefill);
  }
}

TEST(Phase, of_a_mixed_step_is_that_of_each_request) {
  EXPECT_EQ(phase_of(ForwardMode::kMixed, Phase::kPrefill), std::nullopt);
  EXPECT_EQ(phase_of_request(1), Phase::kDecode);
  EXPECT_EQ(phase_of_request(2), Phase::kPrefill);
}

}  // namespace

}  // namespace attnbench
