// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/setup_condition.h"

#include <algorithm>
#include <iterator>

namespace attnbench {
namespace {

struct ConditionWord {
  std::string_view word;
  bool (*test)(const EngineSetup&);
};

template <Platform platform>
bool is_on(const EngineSetup& s) {
  return s.device.platform == platform;
}

template <int major>
bool has_major(const EngineSetup& s) {
  return s.device.is_cuda_major(major);
}

template <int least>
bool is_from(const EngineSetup& s) {
  return s.device.platform == Platform::kCuda && s.device.capability >= least;
}

template <LinearAttentionKind sort>
bool has_linear(const EngineSetup& s) {
  return s.linear == sort;
}

template <SparseAttention sort>
bool has_sparse(const EngineSetup& s) {
  return s.sparse == sort;
}

template <int heads>
bool has_heads(const EngineSetup& s) {
  return s.heads_q == heads;
}

constexpr ConditionWord kConditions[] = {
    {"CUDA", is_on<Platform::kCuda>},
    {"AMD", is_on<Platform::kRocm>},
    {"CPU", is_on<Platform::kCpu>},
    {"XPU", is_on<Platform::kXpu>},
    {"NPU", is_on<Platform::kNpu>},
    {"MPS", is_on<Platform::kMps>},
    {"sm9x", has_major<9>},
    {"sm10x", has_major<10>},
    {"sm12x", has_major<12>},
    {"sm90", [](const EngineSetup& s) { return s.device.capability == 90; }},
    {"sm103", [](const EngineSetup& s) { return s.device.capability == 103; }},
    {"from sm80", is_from<80>},
    {"CUDA 12.3", [](const EngineSetup& s) { return s.cuda_version >= 1203; }},
    {"flashinfer", [](const EngineSetup& s) { return s.has_flashinfer; }},
    {"AMX", [](const EngineSetup& s) { return s.has_amx; }},
    {"MLA", [](const EngineSetup& s) { return s.is_mla; }},
    {"DSA", [](const EngineSetup& s) { return s.is_dsa(); }},
    {"pooled DSA", has_sparse<SparseAttention::kPooledDsa>},
    {"QSA", has_sparse<SparseAttention::kQsa>},
    {"MSA", has_sparse<SparseAttention::kMsa>},
    {"compressed rows", has_sparse<SparseAttention::kCompressed>},
    {"rows of 512", [](const EngineSetup& s) { return s.is_mla && s.head_dim_qk == 512; }},
    {"Whisper", [](const EngineSetup& s) { return s.is_whisper; }},
    {"unequal dims", [](const EngineSetup& s) { return s.has_unequal_dims(); }},
    {"fp8 cache", [](const EngineSetup& s) { return s.has_fp8_cache(); }},
    {"f32", [](const EngineSetup& s) { return s.dtype == DType::kF32; }},
    {"drafts", [](const EngineSetup& s) { return s.topk > 0; }},
    {"trees", [](const EngineSetup& s) { return s.topk > 1; }},
    {"pages of several tokens", [](const EngineSetup& s) { return s.page_size > 1; }},
    {"up to 16 heads", [](const EngineSetup& s) { return s.heads_q <= 16; }},
    {"16 heads", has_heads<16>},
    {"128 heads", has_heads<128>},
    {"gated delta nets", has_linear<LinearAttentionKind::kGatedDeltaNet>},
    {"Kimi delta attention", has_linear<LinearAttentionKind::kKimiDelta>},
    {"lightning attention", has_linear<LinearAttentionKind::kLightning>},
};

}  // namespace

std::optional<SetupCondition> SetupCondition::find(std::string_view word) {
  constexpr std::string_view kNot = "not ";
  SetupCondition condition;
  condition.wanted_ = !word.starts_with(kNot);
  if (!condition.wanted_) word.remove_prefix(kNot.size());
  const auto* found = std::ranges::find(kConditions, word, &ConditionWord::word);
  if (found != std::end(kConditions)) {
    condition.test_ = found->test;
    return condition;
  }
  const std::optional<EngineFeature> feature = find_engine_feature(word);
  if (!feature) return std::nullopt;
  condition.feature_ = *feature;
  return condition;
}

bool SetupCondition::holds_for(const EngineSetup& setup) const {
  const bool holds = test_ != nullptr ? test_(setup) : features_of(setup).has(feature_);
  return holds == wanted_;
}

}  // namespace attnbench
